import type { PayableEntry } from '../page-data.js';
import { type AskProvider, networkOf, switchNetwork } from './evm-network.js';
import type { ServerClock } from './server-clock.js';
import { buildAuthorization, normalizeSignature, typedData } from './typed-data.js';
import { type PageWallet, type WalletChanges, WalletProblem } from './wallet.js';

/** The part of EIP-1193 that the page uses. */
export interface Provider {
  request(call: { method: string; params?: unknown[] }): Promise<unknown>;
  on?(event: string, listener: (data: unknown) => void): unknown;
}

const BALANCE_OF = '0x70a08231';

export function createEvmWallet(
  { key, name, icon }: Pick<PageWallet, 'key' | 'name' | 'icon'>,
  provider: Provider,
  clock: ServerClock,
): PageWallet {
  const ask: AskProvider = async (method, params = []) => await provider.request({ method, params });
  const connect = async (how: 'asking' | 'silently'): Promise<string | undefined> =>
    firstAddress(await ask(how === 'silently' ? 'eth_accounts' : 'eth_requestAccounts'));

  return {
    key,
    name,
    icon,
    family: 'evm',
    connect,
    otherAccount: () => ask('wallet_requestPermissions', [{ eth_accounts: {} }]),
    follow: followProvider(provider, () => connect('silently')),
    network: () => networkOf(ask),
    switchTo: (entry) => switchNetwork(ask, entry),
    async balances(address, entries) {
      const read = entries.map(async (entry): Promise<[PayableEntry, bigint] | undefined> => {
        const data = `${BALANCE_OF}${address.slice(2).toLowerCase().padStart(64, '0')}`;
        const call = { to: entry.accepted.asset, data };
        const balance = await ask('eth_call', [call, 'latest']).catch(() => undefined);
        return typeof balance === 'string' && /^0x[0-9a-f]{1,64}$/i.test(balance)
          ? [entry, BigInt(balance)]
          : undefined;
      });
      return new Map((await Promise.all(read)).filter((known) => known !== undefined));
    },
    async sign({ accepted }, address, nonces) {
      const nonce = await nonces.next();
      const authorization = buildAuthorization(accepted, { from: address, nonce, nowSeconds: clock.now() });
      const signature = await ask('eth_signTypedData_v4', [address, typedData(accepted, authorization)]);
      if (typeof signature !== 'string') throw new WalletProblem('walletFailed');
      return {
        payload: { signature: normalizeSignature(signature), authorization },
        validUntil: Number(authorization.validBefore),
      };
    },
  };
}

/** Some wallets emit `disconnect` while they switch networks, so the accounts are read again. */
function followProvider(
  provider: Provider,
  account: () => Promise<string | undefined>,
): (changes: WalletChanges) => void {
  let subscriber: WalletChanges | undefined;
  const listen = (event: string, listener: (data: unknown) => void): void => {
    try {
      provider.on?.(event, listener);
    } catch {
      // A change then shows with the next request to the wallet.
    }
  };
  listen('accountsChanged', (accounts) => subscriber?.account(firstAddress(accounts)));
  listen('chainChanged', () => subscriber?.network());
  listen('disconnect', () => {
    account().then(
      (address) => subscriber?.account(address),
      () => subscriber?.account(undefined),
    );
  });
  return (changes) => {
    subscriber = changes;
  };
}

function firstAddress(accounts: unknown): string | undefined {
  const address: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
  return typeof address === 'string' && /^0x[0-9a-f]{40}$/i.test(address) ? address : undefined;
}
