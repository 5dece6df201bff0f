import { createKeyPairSignerFromBytes } from '@solana/kit';
import { x402Client as AxiosClient, wrapAxiosWithPayment } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import axios from 'axios';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { EVM_BUYER_KEY, SOLANA_BUYER_KEY } from '../../lab/sandbox/networks/wallets.js';
import { fromBase58 } from '../../lab/world/chains/base58.js';
import { findToken, type TokenSymbol } from '../../shared/chains/networks/networks.js';
import { testSandbox } from './sandbox.js';

/** An agent written with x402's packages, which pays in a given token. */
export interface Agent {
  pay(link: string, wanted: Wanted): Promise<AgentAnswer>;
}

export interface Wanted {
  network: string;
  symbol: TokenSymbol;
}

export interface AgentAnswer {
  status: number;
  body: {
    status?: string;
    code?: string;
    session?: { payment: { transaction: string; payer: string } };
    refund?: { id: string; status: string; transaction: string };
  };
  /** The transaction of PAYMENT-RESPONSE. */
  transaction: string | undefined;
}

export interface Keys {
  evm?: Hex;
  solana?: string;
}

export async function fetchAgent(keys: Keys = {}): Promise<Agent> {
  const { evm, svm } = await schemes(keys);
  return {
    async pay(link, wanted) {
      const client = new x402Client((_version, accepts) => select(accepts, wanted));
      client.register('eip155:*', evm).register('solana:*', svm);
      client.setSpendControls({ maxAmountPerPayment: '$100', allowedAssets: true });
      const response = await wrapFetchWithPayment(fetch, client)(link);
      const receipt = response.headers.get('PAYMENT-RESPONSE');
      return {
        status: response.status,
        body: JSON.parse(await response.text()),
        transaction: transactionOf(receipt),
      };
    },
  };
}

export async function axiosAgent(keys: Keys = {}): Promise<Agent> {
  const { evm, svm } = await schemes(keys);
  return {
    async pay(link, wanted) {
      const client = new AxiosClient((_version, accepts) => select(accepts, wanted));
      client.register('eip155:*', evm).register('solana:*', svm);
      const { status, data, headers } = await wrapAxiosWithPayment(axios.create(), client).get(link);
      return { status, body: data, transaction: transactionOf(headers['payment-response']) };
    },
  };
}

async function schemes({ evm = EVM_BUYER_KEY, solana = SOLANA_BUYER_KEY }: Keys) {
  const { rpcUrls } = await testSandbox();
  const signer = await createKeyPairSignerFromBytes(fromBase58(solana));
  const rpcUrl = rpcUrls.SOLANA_DEVNET ?? '';
  return { evm: new ExactEvmScheme(privateKeyToAccount(evm)), svm: new ExactSvmScheme(signer, { rpcUrl }) };
}

function select<T extends { network: string; asset: string }>(accepts: T[], { network, symbol }: Wanted): T {
  const entry = accepts.find(
    (one) => one.network === network && findToken(network, one.asset)?.symbol === symbol,
  );
  if (entry === undefined) throw new Error(`${symbol} on ${network} is not offered.`);
  return entry;
}

function transactionOf(header: unknown): string | undefined {
  return typeof header === 'string' ? decodePaymentResponseHeader(header).transaction : undefined;
}
