import { Keypair, VersionedTransaction } from '@solana/web3.js';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { isJsonObject } from '../../../shared/values/json-object.js';
import { fromBase58 } from '../../world/chains/base58.js';
import type { Chains } from '../chains/chains.js';
import {
  EVM_BUYER_KEY,
  EVM_MERCHANT_KEY,
  SOLANA_BUYER_KEY,
  SOLANA_MERCHANT_KEY,
} from '../networks/wallets.js';

/** Signs for the wallets of the payment page, whatever any caller asks: their keys are public and worth nothing. */
export type WalletSigner = (owner: Owner, method: string, params: readonly unknown[]) => Promise<unknown>;

/** A refund is paid by the merchant. */
type Owner = 'buyer' | 'merchant';

export class WalletRefusal extends Error {
  /** EIP-1193's and EIP-3326's error codes. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const UNKNOWN_CHAIN = 4902;
const UNSUPPORTED = 4200;

export function createWalletSigner(chains: Pick<Chains, 'evm'>): WalletSigner {
  const methodsOf: Record<Owner, Methods> = {
    buyer: walletMethods(chains, EVM_BUYER_KEY, SOLANA_BUYER_KEY),
    merchant: walletMethods(chains, EVM_MERCHANT_KEY, SOLANA_MERCHANT_KEY),
  };
  return async (owner, method, params) => {
    const run = methodsOf[owner][method];
    if (run === undefined) throw new WalletRefusal(UNSUPPORTED, `${method} is not supported.`);
    return await run(params);
  };
}

type Methods = Record<string, (params: readonly unknown[]) => unknown>;

function walletMethods({ evm }: Pick<Chains, 'evm'>, evmKey: Hex, solanaKey: string): Methods {
  const account = privateKeyToAccount(evmKey);
  const keypair = Keypair.fromSecretKey(fromBase58(solanaKey));
  const chainOf = (chainId: unknown): (typeof evm)[number] => {
    const chain = evm.find(({ network }) => network.chainId === Number(chainId));
    if (chain === undefined) throw new WalletRefusal(UNKNOWN_CHAIN, 'The sandbox has no such chain.');
    return chain;
  };
  return {
    eth_accounts: () => [account.address],
    eth_requestAccounts: () => [account.address],
    knowsChain: ([chainId]) => chainOf(chainId).network.caip2,
    eth_call: ([chainId, call]) => callChain(chainOf(chainId).url, call),
    async eth_signTypedData_v4([, text]) {
      const { domain, types, primaryType, message } = JSON.parse(String(text));
      const { EIP712Domain: _, ...others } = types;
      return await account.signTypedData({ domain, types: others, primaryType, message });
    },
    'solana:address': () => keypair.publicKey.toBase58(),
    'solana:sign'([encoded]) {
      const transaction = VersionedTransaction.deserialize(Buffer.from(String(encoded), 'base64'));
      transaction.sign([keypair]);
      return Buffer.from(transaction.serialize()).toString('base64');
    },
  };
}

async function callChain(url: string, call: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params: [call, 'latest'] }),
  });
  const answer: unknown = await response.json();
  if (isJsonObject(answer) && typeof answer.result === 'string') return answer.result;
  throw new WalletRefusal(-32000, 'The chain did not answer the call.');
}
