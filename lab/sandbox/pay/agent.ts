import { createKeyPairSignerFromBytes } from '@solana/kit';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { privateKeyToAccount } from 'viem/accounts';
import { Failure } from './failure.js';
import type { Wallets } from './options.js';
import type { Entry } from './quote.js';

export interface Agent {
  address: string;
  fetch: typeof fetch;
}

/** A stock x402 client that pays this one entry. */
export async function createAgent(
  entry: Entry,
  wallets: Wallets,
  rpcUrl: string | undefined,
): Promise<Agent> {
  const client = new x402Client((_version, accepts) => {
    const chosen = accepts.find(({ network, asset }) => network === entry.network && asset === entry.asset);
    if (chosen === undefined) throw new Failure('The link has changed what it asks for: try again.');
    return chosen;
  });
  // A stock client pays at most $1, in the tokens of its own table, until its spend controls say otherwise.
  const { network, asset, amount, token } = entry;
  const dollars = `$${Math.max(1, Number(amount) / 10 ** token.decimals)}`;
  client.setSpendControls({
    maxAmountPerPayment: dollars,
    allowedAssets: [{ network: `${family(network)}`, asset, maxAmountPerPayment: `${amount}` }],
  });
  const address = await register(client, entry, wallets, rpcUrl);
  return { address, fetch: wrapFetchWithPayment(fetch, client) };
}

async function register(
  client: x402Client,
  { token }: Entry,
  wallets: Wallets,
  rpcUrl: string | undefined,
): Promise<string> {
  if (token.family === 'evm') {
    if (wallets.evm === undefined) throw new Failure('There is no EVM key.');
    const account = privateKeyToAccount(wallets.evm);
    client.register('eip155:*', new ExactEvmScheme(account));
    return account.address;
  }
  if (wallets.solana === undefined) throw new Failure('There is no Solana key.');
  const signer = await createKeyPairSignerFromBytes(wallets.solana);
  client.register('solana:*', new ExactSvmScheme(signer, rpcUrl === undefined ? {} : { rpcUrl }));
  return signer.address;
}

function family(network: string): `${string}:${string}` {
  const [namespace = '', reference = ''] = network.split(':');
  return `${namespace}:${reference}`;
}
