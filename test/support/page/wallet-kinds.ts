import { type Hex, hexToBigInt } from 'viem';
import { type EvmWallet, evmWallet, type SolanaWallet, solanaWallet, WalletError } from './wallets.js';

/** How wallets that people have behave: their errors, the order of what they tell and answer, how long they take. */
export interface EvmKind {
  /** As EIP-6963 announces it; null: it only sets window.ethereum. */
  rdns: string | null;
  /** Asked for a network that it does not know. */
  unknownNetwork: { code: number; message: string; data?: object };
  /** Whether it goes to a network that it was told of without being asked again. */
  goesWhereTold: boolean;
  /** How long after the switch was answered the wallet is there. */
  arrivesAfterMs: number;
  /** When it tells the page which account was connected. */
  tellsAccount: 'before its answer' | 'after its answer' | 'never';
  declined: { code: number; message: string };
  /** Whether it lets the page ask for another account. */
  knowsPermissions: boolean;
  answersAfterMs: number;
}

export const EVM_KINDS = {
  MetaMask: {
    rdns: 'io.metamask',
    unknownNetwork: {
      code: 4902,
      message: 'Unrecognized chain ID "0x89". Try adding the chain using wallet_addEthereumChain first.',
    },
    goesWhereTold: true,
    arrivesAfterMs: 0,
    tellsAccount: 'before its answer',
    declined: { code: 4001, message: 'MetaMask Message Signature: User denied message signature.' },
    knowsPermissions: true,
    answersAfterMs: 60,
  },
  Rabby: {
    rdns: 'io.rabby',
    unknownNetwork: {
      code: 4902,
      message: 'Unrecognized chain ID "0x89". Try adding the chain using wallet_switchEthereumChain first.',
    },
    goesWhereTold: false,
    arrivesAfterMs: 300,
    tellsAccount: 'after its answer',
    declined: { code: 4001, message: 'User rejected the request.' },
    knowsPermissions: true,
    answersAfterMs: 30,
  },
  'Coinbase Wallet': {
    rdns: 'com.coinbase.wallet',
    unknownNetwork: {
      code: -32603,
      message: 'Internal JSON-RPC error.',
      data: { originalError: { code: 4902, message: 'Unrecognized chain ID.' } },
    },
    goesWhereTold: true,
    arrivesAfterMs: 1200,
    tellsAccount: 'after its answer',
    declined: { code: 4001, message: 'User denied request signature.' },
    knowsPermissions: false,
    answersAfterMs: 120,
  },
  Phantom: {
    rdns: 'app.phantom',
    unknownNetwork: { code: 4902, message: 'Unsupported network.' },
    goesWhereTold: false,
    arrivesAfterMs: 0,
    tellsAccount: 'before its answer',
    declined: { code: 4001, message: 'User rejected the request.' },
    knowsPermissions: false,
    answersAfterMs: 10,
  },
  'Browser wallet': {
    rdns: null,
    unknownNetwork: { code: 4902, message: 'Unrecognized chain ID.' },
    goesWhereTold: true,
    arrivesAfterMs: 500,
    tellsAccount: 'never',
    declined: { code: 4001, message: 'User rejected the request.' },
    knowsPermissions: false,
    answersAfterMs: 0,
  },
} as const satisfies Record<string, EvmKind>;

export interface SolanaKind {
  tellsAccount: EvmKind['tellsAccount'];
  declined: { code: number; message: string };
  answersAfterMs: number;
}

export const SOLANA_KINDS = {
  Phantom: {
    tellsAccount: 'before its answer',
    declined: { code: 4001, message: 'User rejected the request.' },
    answersAfterMs: 10,
  },
  Solflare: {
    tellsAccount: 'after its answer',
    declined: { code: -32003, message: 'Transaction cancelled' },
    answersAfterMs: 150,
  },
  Backpack: {
    tellsAccount: 'never',
    declined: { code: -32000, message: 'Approval Denied' },
    answersAfterMs: 40,
  },
} as const satisfies Record<string, SolanaKind>;

/** It knows the network it is on and no other. */
export function evmWalletLike(name: keyof typeof EVM_KINDS, chainId: number): EvmWallet {
  const kind: EvmKind = EVM_KINDS[name];
  const wallet = evmWallet(name, { chainId });
  wallet.chains = new Set([chainId]);
  wallet.looks.rdns = kind.rdns;
  const { answer } = wallet;
  wallet.answer = async (method, params) => {
    await after(kind.answersAfterMs);
    if (method === 'wallet_requestPermissions' && !kind.knowsPermissions) {
      throw new WalletError(4200, 'The requested method is not supported by this Ethereum provider.');
    }
    if (/^wallet_(switch|add)EthereumChain$/.test(method) && !wallet.next.has(method)) {
      wallet.asked.push(method);
      return await goTo(wallet, kind, method, Number(hexToBigInt((params[0] as { chainId: Hex }).chainId)));
    }
    const tells = method === 'eth_requestAccounts' ? kind.tellsAccount : 'never';
    const tell = (): Promise<void> => wallet.tell('accountsChanged', [wallet.address]);
    if (tells === 'before its answer') await tell();
    const answered = await answer(method, params);
    if (tells === 'after its answer') setTimeout(() => void tell(), kind.answersAfterMs);
    return answered;
  };
  return wallet;
}

async function goTo(wallet: EvmWallet, kind: EvmKind, method: string, chainId: number): Promise<null> {
  const isKnown = wallet.chains.has(chainId);
  if (method === 'wallet_switchEthereumChain' && !isKnown) {
    const { code, message, data } = kind.unknownNetwork;
    throw new WalletError(code, message, data);
  }
  wallet.chains.add(chainId);
  if (method === 'wallet_addEthereumChain' && !kind.goesWhereTold) return null;
  setTimeout(() => {
    wallet.chainId = chainId;
    void wallet.tell('chainChanged', `0x${chainId.toString(16)}`);
  }, kind.arrivesAfterMs);
  return null;
}

export function solanaWalletLike(name: keyof typeof SOLANA_KINDS): SolanaWallet {
  const kind: SolanaKind = SOLANA_KINDS[name];
  const wallet = solanaWallet(name);
  const { answer } = wallet;
  wallet.answer = async (method, params) => {
    await after(kind.answersAfterMs);
    const tells = method === 'connect' ? kind.tellsAccount : 'never';
    const tell = (): Promise<void> => wallet.tell('change', [wallet.address]);
    if (tells === 'before its answer') await tell();
    const answered = await answer(method, params);
    if (tells === 'after its answer') setTimeout(() => void tell(), kind.answersAfterMs);
    return answered;
  };
  return wallet;
}

export function declines({ declined: { code, message } }: { declined: { code: number; message: string } }) {
  return async (): Promise<never> => {
    throw new WalletError(code, message);
  };
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
