import { Keypair } from '@solana/web3.js';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { EVM_BUYER_KEY, SOLANA_BUYER_KEY } from '../../../lab/sandbox/networks/wallets.js';
import type { Sandbox } from '../../../lab/sandbox/sandbox.js';
import { fromBase58 } from '../../../lab/world/chains/base58.js';
import {
  type EvmWallet,
  evmWallet,
  type SolanaWallet,
  solanaWallet,
} from '../../../lab/world/page/wallets.js';
import { openSandboxCheckout } from '../sandbox-checkout.js';
import { openBrowser, type Shop, withBrowser } from './shop.js';

/** A shop on the chains of the sandbox, with funded wallets. */
export interface SandboxShop extends Shop {
  sandbox: Sandbox;
  /** Reads balances from its current chain. */
  evmWallet(name?: string, key?: Hex): EvmWallet;
  solanaWallet(name?: string, key?: string): SolanaWallet;
}

export async function openSandboxShop(environment: Record<string, string> = {}): Promise<SandboxShop> {
  const browser = await openBrowser();
  const checkout = await openSandboxCheckout(environment);
  const { sandbox } = checkout;
  return {
    ...withBrowser(checkout, browser),
    sandbox,
    evmWallet(name, key = EVM_BUYER_KEY) {
      const wallet = evmWallet(name, { account: privateKeyToAccount(key) });
      wallet.call = async (params) => await callChain(sandbox, wallet.chainId, params);
      return wallet;
    },
    solanaWallet: (name, key = SOLANA_BUYER_KEY) =>
      solanaWallet(name, Keypair.fromSecretKey(fromBase58(key))),
  };
}

async function callChain(sandbox: Sandbox, chainId: number, params: readonly unknown[]): Promise<unknown> {
  const chain = sandbox.chains.evm.find(({ network }) => network.chainId === chainId);
  if (chain === undefined) throw new Error('the wallet has no connection to this chain');
  const response = await fetch(chain.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params }),
  });
  const { result } = (await response.json()) as { result?: unknown };
  return result;
}
