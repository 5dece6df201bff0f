import type { PayableEntry } from '../page-data.js';
import type { ServerClock } from './server-clock.js';
import { buildAuthorization, normalizeSignature, typedData } from './typed-data.js';
import { type PageWallet, WalletProblem } from './wallet.js';
import { cleanName, safeIcon } from './wallet-looks.js';

interface Provider {
  request(call: { method: string; params?: unknown[] }): Promise<unknown>;
}

const UNKNOWN_CHAIN = 4902;
const BALANCE_OF = '0x70a08231';
const MAX_WALLETS = 30;

/** EIP-6963: wallets announce themselves, when asked and whenever they are loaded. */
export function discoverEvmWallets(clock: ServerClock, found: (wallet: PageWallet) => void): void {
  const known = new Set<string>();
  window.addEventListener('eip6963:announceProvider', (event) => {
    try {
      const wallet = readAnnouncement((event as CustomEvent<unknown>).detail, clock);
      if (wallet === undefined || known.has(wallet.key) || known.size >= MAX_WALLETS) return;
      known.add(wallet.key);
      found(wallet);
    } catch {
      // A wallet whose announcement cannot be read is none.
    }
  });
  window.dispatchEvent(new Event('eip6963:requestProvider'));
}

function readAnnouncement(detail: unknown, clock: ServerClock): PageWallet | undefined {
  const { info, provider } = detail as { info?: Record<string, unknown>; provider?: Provider };
  if (info === undefined || typeof provider?.request !== 'function') return undefined;
  const { rdns, uuid, name, icon } = info;
  const id = typeof rdns === 'string' && rdns !== '' ? rdns : String(uuid);
  return createEvmWallet(`evm:${id.slice(0, 200)}`, cleanName(name), safeIcon(icon), provider, clock);
}

function createEvmWallet(
  key: string,
  name: string,
  icon: string | undefined,
  provider: Provider,
  clock: ServerClock,
): PageWallet {
  const ask = async (method: string, params: unknown[] = []): Promise<unknown> =>
    await provider.request({ method, params });
  const isOn = async ({ chain }: PayableEntry): Promise<boolean> =>
    sameChain(await ask('eth_chainId'), chain?.chainId);

  return {
    key,
    name,
    icon,
    family: 'evm',
    async connect(how) {
      const accounts = await ask(how === 'silently' ? 'eth_accounts' : 'eth_requestAccounts');
      const address: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
      return typeof address === 'string' && /^0x[0-9a-f]{40}$/i.test(address) ? address : undefined;
    },
    async balances(address, entries) {
      const chainId = await ask('eth_chainId');
      const here = entries.filter(({ chain }) => sameChain(chainId, chain?.chainId));
      const read = here.map(async (entry): Promise<[PayableEntry, bigint] | undefined> => {
        const data = `${BALANCE_OF}${address.slice(2).toLowerCase().padStart(64, '0')}`;
        const call = { to: entry.accepted.asset, data };
        const balance = await ask('eth_call', [call, 'latest']).catch(() => undefined);
        return typeof balance === 'string' && /^0x[0-9a-f]{1,64}$/i.test(balance)
          ? [entry, BigInt(balance)]
          : undefined;
      });
      return new Map((await Promise.all(read)).filter((known) => known !== undefined));
    },
    needsSwitch: async (entry) => !(await isOn(entry)),
    async switchTo(entry) {
      const { chain } = entry;
      if (chain === undefined) throw new Error('not an EVM entry');
      const change = (): Promise<unknown> => ask('wallet_switchEthereumChain', [{ chainId: chain.chainId }]);
      try {
        await change();
      } catch (error) {
        if (!isUnknownChain(error)) throw error;
        await ask('wallet_addEthereumChain', [chain]);
        if (!(await isOn(entry))) await change();
      }
      if (!(await isOn(entry))) throw new WalletProblem('wrongNetwork', { network: entry.networkName });
    },
    async sign({ accepted }, address) {
      const authorization = buildAuthorization(accepted, address, clock.now());
      const signature = await ask('eth_signTypedData_v4', [address, typedData(accepted, authorization)]);
      if (typeof signature !== 'string') throw new WalletProblem('walletFailed');
      return {
        payload: { signature: normalizeSignature(signature), authorization },
        validUntil: Number(authorization.validBefore),
      };
    },
  };
}

function sameChain(chainId: unknown, wanted: string | undefined): boolean {
  return wanted !== undefined && Number(chainId) === Number(wanted);
}

/** Some wallets wrap the error that the standard asks for. */
function isUnknownChain(error: unknown): boolean {
  const { code, data } = Object(error) as { code?: unknown; data?: { originalError?: { code?: unknown } } };
  return code === UNKNOWN_CHAIN || data?.originalError?.code === UNKNOWN_CHAIN;
}
