import { fileURLToPath } from 'node:url';
import { Keypair, VersionedTransaction } from '@solana/web3.js';
import type { Page } from 'playwright-core';
import { type Hex, hexToBigInt, type LocalAccount, numberToHex, pad } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { withResolvers } from '../../../shared/process/with-resolvers.js';

/** Wallets as browser extensions provide them: announced in the page, with keys and decisions in the test. */
export interface TestWallet {
  key: string;
  family: 'evm' | 'svm';
  address: string;
  /** Name, icon and networks as announced to the page. */
  identity: { name: string; icon: string; rdns: string | null; chains?: string[] };
  /** Methods requested so far. */
  requests: string[];
  answer(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Emits an event in the page; works once the wallet is installed. */
  emit(event: string, data: unknown): Promise<void>;
}

export interface EvmWallet extends TestWallet {
  chainId: number;
  /** Answers eth_call; by default from `balances`. */
  call: ((params: readonly unknown[]) => Promise<unknown>) | undefined;
  /** Balances by token contract in lower case; a missing one cannot be read. */
  balances: Map<string, bigint>;
  /** Known networks. */
  chains: Set<number>;
  connected: boolean;
  /** Changes the paying account without an event. */
  use(account: LocalAccount): void;
  /** Replaces the next answer to a method, for example to throw or to never end. */
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

const PLAIN_ICON =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 8 8%22%3E%3Crect width=%228%22 height=%228%22 rx=%222%22 fill=%22%23e8761b%22/%3E%3C/svg%3E';
const INJECTED = fileURLToPath(new URL('injected-wallets.js', import.meta.url));

const BASE_SEPOLIA_USDC = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';

export const rejects = (): Promise<never> =>
  Promise.reject(new WalletError(4001, 'User rejected the request.'));
const notInstalled = async (): Promise<void> => {};
export const neverEnds = (): Promise<never> => new Promise<never>(() => {});

/** A wallet on Base Sepolia with USDC there. */
export function fundedWallet(name?: string, dollars = 25): EvmWallet {
  const wallet = evmWallet(name);
  wallet.balances.set(BASE_SEPOLIA_USDC, BigInt(Math.round(dollars * 1_000_000)));
  return wallet;
}

/** Lets the wallet's answers to this method wait until the returned function is called. */
export function holdAnswers(wallet: TestWallet, method: string): () => void {
  const { answer } = wallet;
  const { promise: held, resolve: release } = withResolvers();
  wallet.answer = async (name, params) => {
    if (name === method) await held;
    return await answer(name, params);
  };
  return release;
}

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
    identity: { name, icon: PLAIN_ICON, rdns: `test.${name.toLowerCase().replaceAll(/[^a-z]/g, '')}` },
    requests: [],
    emit: notInstalled,
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
      wallet.requests.push(method);
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
    identity: { name, icon: PLAIN_ICON, rdns: '' },
    requests: [],
    emit: notInstalled,
    connected: false,
    next: new Map(),
    async answer(method, [first]) {
      wallet.requests.push(method);
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

/** Call before opening the page. */
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
    wallet.emit = async (event, data) => {
      await page
        .evaluate(`window.__emit(${JSON.stringify([wallet.key, event, data])})`)
        .catch(() => undefined);
    };
  }
  const descriptions = wallets.map(({ key, family, address, identity }) => ({
    key,
    family,
    address,
    chains: ['solana:mainnet', 'solana:devnet'],
    ...identity,
    uuid: crypto.randomUUID(),
  }));
  await page.addInitScript(`window.__wallets = ${JSON.stringify(descriptions)};`);
  await page.addInitScript({ path: INJECTED });
}
