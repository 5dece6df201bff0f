import { fileURLToPath } from 'node:url';
import { Keypair, VersionedTransaction } from '@solana/web3.js';
import type { Page } from 'playwright-core';
import { type Hex, hexToBigInt, type LocalAccount, numberToHex, pad } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

/** Wallets as extensions bring them: announced in the page, keys and decisions in the test. */
export interface TestWallet {
  key: string;
  family: 'evm' | 'svm';
  address: string;
  /** What the page is told, as it stands. */
  looks: { name: string; icon: string; rdns: string | null; chains?: string[] };
  /** What it was asked, in order. */
  asked: string[];
  answer(method: string, params: readonly unknown[]): Promise<unknown>;
  /** To the page, once it is installed there: an event, and what is told with it. */
  tell(event: string, told: unknown): Promise<void>;
}

export interface EvmWallet extends TestWallet {
  chainId: number;
  /** Answers eth_call; from `balances` unless told. */
  call: ((params: readonly unknown[]) => Promise<unknown>) | undefined;
  /** By token contract in lower case; undefined cannot be read. */
  balances: Map<string, bigint>;
  /** Networks that it has been told of. */
  chains: Set<number>;
  connected: boolean;
  /** Another account is the one that pays from now on; the page is told by `tell`. */
  use(account: LocalAccount): void;
  /** Instead of the honest answer, once: throws, or never ends. */
  next: Map<string, () => Promise<unknown>>;
}

export interface SolanaWallet extends TestWallet {
  next: Map<string, () => Promise<unknown>>;
  connected: boolean;
}

export class WalletError extends Error {
  readonly code: number;
  readonly data: object | undefined;

  constructor(code: number, message: string, data?: object) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const PLAIN_ICON =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 8 8%22%3E%3Crect width=%228%22 height=%228%22 rx=%222%22 fill=%22%23e8761b%22/%3E%3C/svg%3E';
const INJECTED = fileURLToPath(new URL('injected-wallets.js', import.meta.url));

export const rejects = (): Promise<never> =>
  Promise.reject(new WalletError(4001, 'User rejected the request.'));
const untold = async (): Promise<void> => {};
export const neverEnds = (): Promise<never> => new Promise<never>(() => {});

export function evmWallet(
  name = 'Fox Wallet',
  {
    chainId = 84532,
    account = privateKeyToAccount(generatePrivateKey()),
  }: { chainId?: number; account?: LocalAccount } = {},
): EvmWallet {
  let current = account;
  const wallet: EvmWallet = {
    key: `evm-${name}`,
    family: 'evm',
    address: account.address,
    looks: { name, icon: PLAIN_ICON, rdns: `test.${name.toLowerCase().replaceAll(/[^a-z]/g, '')}` },
    asked: [],
    tell: untold,
    chainId,
    call: undefined,
    balances: new Map(),
    chains: new Set([chainId, 84532, 1952]),
    use(next) {
      current = next;
      wallet.address = next.address;
    },
    connected: false,
    next: new Map(),
    async answer(method, params) {
      wallet.asked.push(method);
      const instead = wallet.next.get(method);
      if (instead !== undefined) {
        wallet.next.delete(method);
        return await instead();
      }
      return await answerEvm(wallet, current, method, params);
    },
  };
  return wallet;
}

async function answerEvm(
  wallet: EvmWallet,
  account: LocalAccount,
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  const [first, second] = params;
  switch (method) {
    case 'eth_accounts':
      return wallet.connected ? [account.address] : [];
    case 'eth_requestAccounts':
      wallet.connected = true;
      return [account.address];
    case 'eth_chainId':
      return numberToHex(wallet.chainId);
    case 'eth_call': {
      if (wallet.call !== undefined) return await wallet.call(params);
      const balance = wallet.balances.get((first as { to: string }).to.toLowerCase());
      if (balance === undefined) throw new WalletError(-32000, 'execution reverted');
      return pad(numberToHex(balance));
    }
    case 'wallet_switchEthereumChain': {
      const wanted = Number(hexToBigInt((first as { chainId: Hex }).chainId));
      if (!wallet.chains.has(wanted)) throw new WalletError(4902, 'Unrecognized chain ID');
      wallet.chainId = wanted;
      return null;
    }
    case 'wallet_requestPermissions':
      return [{ parentCapability: 'eth_accounts' }];
    case 'wallet_addEthereumChain':
      wallet.chains.add(Number(hexToBigInt((first as { chainId: Hex }).chainId)));
      return null;
    case 'eth_signTypedData_v4': {
      const { domain, types, primaryType, message } = JSON.parse(String(second));
      const { EIP712Domain: _, ...others } = types;
      if (domain.chainId !== wallet.chainId) throw new WalletError(-32603, 'chainId does not match');
      return await account.signTypedData({ domain, types: others, primaryType, message });
    }
    default:
      throw new WalletError(4200, `${method} is not supported`);
  }
}

export function solanaWallet(name = 'Ghost Wallet', keypair = Keypair.generate()): SolanaWallet {
  const wallet: SolanaWallet = {
    key: `svm-${name}`,
    family: 'svm',
    address: keypair.publicKey.toBase58(),
    looks: { name, icon: PLAIN_ICON, rdns: '' },
    asked: [],
    tell: untold,
    connected: false,
    next: new Map(),
    async answer(method, [first]) {
      wallet.asked.push(method);
      const instead = wallet.next.get(method);
      if (instead !== undefined) {
        wallet.next.delete(method);
        return await instead();
      }
      if (method === 'connect') {
        const { silent = false } = first as { silent?: boolean };
        if (!silent) wallet.connected = true;
        return wallet.connected;
      }
      const transaction = VersionedTransaction.deserialize(Buffer.from(String(first), 'base64'));
      transaction.sign([keypair]);
      return Buffer.from(transaction.serialize()).toString('base64');
    },
  };
  return wallet;
}

/** Before the page is opened. */
export async function installWallets(page: Page, wallets: readonly TestWallet[]): Promise<void> {
  await page.exposeFunction('__askWallet', async (key: string, method: string, params: unknown[]) => {
    const wallet = wallets.find((candidate) => candidate.key === key);
    try {
      return { value: await wallet?.answer(method, params) };
    } catch (error) {
      const { message, code, data } = error as WalletError;
      return { error: { message, code, ...(data && { data }) } };
    }
  });
  for (const wallet of wallets) {
    wallet.tell = async (event, told) => {
      await page
        .evaluate(`window.__tell(${JSON.stringify([wallet.key, event, told])})`)
        .catch(() => undefined);
    };
  }
  const told = wallets.map(({ key, family, address, looks }) => ({
    key,
    family,
    address,
    chains: ['solana:mainnet', 'solana:devnet'],
    ...looks,
    uuid: crypto.randomUUID(),
  }));
  await page.addInitScript(`window.__wallets = ${JSON.stringify(told)};`);
  await page.addInitScript({ path: INJECTED });
}
