import { type Hex, hexToBigInt } from 'viem';
import {
  type EvmWallet,
  evmWallet,
  type SolanaWallet,
  solanaWallet,
  WalletError,
} from '../../../lab/world/page/wallets.js';

/** The behaviour of common wallets: errors, order of events and answers, delays. */
interface EvmKind {
  /** Name in EIP-6963; null for a wallet that only sets window.ethereum. */
  rdns: string | null;
  /** Error for an unknown network. */
  unknownNetwork: { code: number; message: string; data?: object };
  /** Whether adding a network also switches to it. */
  switchesOnAdd: boolean;
  /** Delay between the answer to a switch and the switch itself. */
  switchDelayMs: number;
  /** When it emits `accountsChanged` after connecting. */
  emitsAccount: 'before its answer' | 'after its answer' | 'never';
  declined: { code: number; message: string };
  /** Whether it supports wallet_requestPermissions. */
  knowsPermissions: boolean;
  answerDelayMs: number;
}

export const EVM_KINDS = {
  MetaMask: {
    rdns: 'io.metamask',
    unknownNetwork: {
      code: 4902,
      message: 'Unrecognized chain ID "0x89". Try adding the chain using wallet_addEthereumChain first.',
    },
    switchesOnAdd: true,
    switchDelayMs: 0,
    emitsAccount: 'before its answer',
    declined: { code: 4001, message: 'MetaMask Message Signature: User denied message signature.' },
    knowsPermissions: true,
    answerDelayMs: 60,
  },
  Rabby: {
    rdns: 'io.rabby',
    unknownNetwork: {
      code: 4902,
      message: 'Unrecognized chain ID "0x89". Try adding the chain using wallet_switchEthereumChain first.',
    },
    switchesOnAdd: false,
    switchDelayMs: 300,
    emitsAccount: 'after its answer',
    declined: { code: 4001, message: 'User rejected the request.' },
    knowsPermissions: true,
    answerDelayMs: 30,
  },
  'Coinbase Wallet': {
    rdns: 'com.coinbase.wallet',
    unknownNetwork: {
      code: -32603,
      message: 'Internal JSON-RPC error.',
      data: { originalError: { code: 4902, message: 'Unrecognized chain ID.' } },
    },
    switchesOnAdd: true,
    switchDelayMs: 1200,
    emitsAccount: 'after its answer',
    declined: { code: 4001, message: 'User denied request signature.' },
    knowsPermissions: false,
    answerDelayMs: 120,
  },
  Phantom: {
    rdns: 'app.phantom',
    unknownNetwork: { code: 4902, message: 'Unsupported network.' },
    switchesOnAdd: false,
    switchDelayMs: 0,
    emitsAccount: 'before its answer',
    declined: { code: 4001, message: 'User rejected the request.' },
    knowsPermissions: false,
    answerDelayMs: 10,
  },
  'Browser wallet': {
    rdns: null,
    unknownNetwork: { code: 4902, message: 'Unrecognized chain ID.' },
    switchesOnAdd: true,
    switchDelayMs: 500,
    emitsAccount: 'never',
    declined: { code: 4001, message: 'User rejected the request.' },
    knowsPermissions: false,
    answerDelayMs: 0,
  },
} as const satisfies Record<string, EvmKind>;

interface SolanaKind {
  emitsAccount: EvmKind['emitsAccount'];
  declined: { code: number; message: string };
  answerDelayMs: number;
}

export const SOLANA_KINDS = {
  Phantom: {
    emitsAccount: 'before its answer',
    declined: { code: 4001, message: 'User rejected the request.' },
    answerDelayMs: 10,
  },
  Solflare: {
    emitsAccount: 'after its answer',
    declined: { code: -32003, message: 'Transaction cancelled' },
    answerDelayMs: 150,
  },
  Backpack: {
    emitsAccount: 'never',
    declined: { code: -32000, message: 'Approval Denied' },
    answerDelayMs: 40,
  },
} as const satisfies Record<string, SolanaKind>;

/** Knows only its current network. */
export function evmWalletLike(name: keyof typeof EVM_KINDS, chainId: number): EvmWallet {
  const kind: EvmKind = EVM_KINDS[name];
  const wallet = evmWallet(name, { chainId });
  wallet.chains = new Set([chainId]);
  wallet.identity.rdns = kind.rdns;
  const { answer } = wallet;
  wallet.answer = async (method, params) => {
    await after(kind.answerDelayMs);
    if (method === 'wallet_requestPermissions' && !kind.knowsPermissions) {
      throw new WalletError(4200, 'The requested method is not supported by this Ethereum provider.');
    }
    if (/^wallet_(switch|add)EthereumChain$/.test(method) && !wallet.next.has(method)) {
      wallet.requests.push(method);
      return await switchTo(
        wallet,
        kind,
        method,
        Number(hexToBigInt((params[0] as { chainId: Hex }).chainId)),
      );
    }
    const emits = method === 'eth_requestAccounts' ? kind.emitsAccount : 'never';
    const emit = (): Promise<void> => wallet.emit('accountsChanged', [wallet.address]);
    if (emits === 'before its answer') await emit();
    const answered = await answer(method, params);
    if (emits === 'after its answer') setTimeout(() => void emit(), kind.answerDelayMs);
    return answered;
  };
  return wallet;
}

async function switchTo(wallet: EvmWallet, kind: EvmKind, method: string, chainId: number): Promise<null> {
  const isKnown = wallet.chains.has(chainId);
  if (method === 'wallet_switchEthereumChain' && !isKnown) {
    const { code, message, data } = kind.unknownNetwork;
    throw new WalletError(code, message, data);
  }
  wallet.chains.add(chainId);
  if (method === 'wallet_addEthereumChain' && !kind.switchesOnAdd) return null;
  setTimeout(() => {
    wallet.chainId = chainId;
    void wallet.emit('chainChanged', `0x${chainId.toString(16)}`);
  }, kind.switchDelayMs);
  return null;
}

export function solanaWalletLike(name: keyof typeof SOLANA_KINDS): SolanaWallet {
  const kind: SolanaKind = SOLANA_KINDS[name];
  const wallet = solanaWallet(name);
  const { answer } = wallet;
  wallet.answer = async (method, params) => {
    await after(kind.answerDelayMs);
    const emits = method === 'connect' ? kind.emitsAccount : 'never';
    const emit = (): Promise<void> => wallet.emit('change', [wallet.address]);
    if (emits === 'before its answer') await emit();
    const answered = await answer(method, params);
    if (emits === 'after its answer') setTimeout(() => void emit(), kind.answerDelayMs);
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
