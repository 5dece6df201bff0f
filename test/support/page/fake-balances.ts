import { Keypair } from '@solana/web3.js';
import { type Hex, numberToHex, pad } from 'viem';
import { RpcEndpoint, type RpcMethods } from '../../../lab/world/chains/chain.js';
import { associatedTokenAccount } from '../../../shared/chains/associated-token-account.js';
import { findNetwork, type Network } from '../../../shared/chains/networks.js';

/** Fake chains with balances of wallets, zero by default, for the chains that the service reads for pages. */
export interface FakeBalances {
  /** Environment variables that point the service to these chains. */
  environment: Record<string, string>;
  hold(wallet: string, network: string, symbol: string, dollars: number): void;
  endpoint(network: string): RpcEndpoint;
  close(): Promise<void>;
}

const SOLANA_HASH_LENGTH = 44;

export async function openFakeBalances(names: readonly string[]): Promise<FakeBalances> {
  const held = new Map<string, bigint>();
  const networks = names.map((name) => networkOf(name));
  const endpoints = new Map<string, RpcEndpoint>();
  for (const network of networks) {
    const methods = network.family === 'evm' ? evmMethods(network, held) : solanaMethods(network, held);
    endpoints.set(network.caip2, await RpcEndpoint.start(methods));
  }
  const endpoint = (name: string): RpcEndpoint => {
    const found = endpoints.get(name);
    if (found === undefined) throw new Error(`no fake chain for ${name}`);
    return found;
  };
  return {
    environment: Object.fromEntries(
      networks.map((network) => [`RPC_URL_${network.environmentSuffix}`, endpoint(network.caip2).url]),
    ),
    hold: (wallet, name, symbol, dollars) =>
      void held.set(accountOf(networkOf(name), wallet, symbol), BigInt(dollars) * 1_000_000n),
    endpoint,
    close: async () => void (await Promise.all([...endpoints.values()].map((one) => one.close()))),
  };
}

function networkOf(name: string): Network {
  const network = findNetwork(name);
  if (network === undefined) throw new Error(`${name} is not a network`);
  return network;
}

/** The key of a token balance on a chain. */
function accountOf(network: Network, wallet: string, symbol: string): string {
  if (network.family === 'svm') {
    const token = network.tokens.find((one) => one.symbol === symbol);
    if (token !== undefined) return associatedTokenAccount(wallet, token);
  } else {
    const token = network.tokens.find((one) => one.symbol === symbol);
    if (token !== undefined) return `${network.chainId} ${token.address} ${wallet}`.toLowerCase();
  }
  throw new Error(`${network.name} has no ${symbol}`);
}

function evmMethods(network: Network & { family: 'evm' }, held: ReadonlyMap<string, bigint>): RpcMethods {
  return {
    eth_chainId: () => numberToHex(network.chainId),
    eth_call: ([call]) => {
      const { to, data } = call as { to: string; data: Hex };
      const account = `${network.chainId} ${to} 0x${data.slice(-40)}`.toLowerCase();
      return pad(numberToHex(held.get(account) ?? 0n));
    },
  };
}

function solanaMethods(network: Network & { family: 'svm' }, held: ReadonlyMap<string, bigint>): RpcMethods {
  const value = (amount: bigint): object => {
    const data = Buffer.alloc(165);
    data.writeBigUInt64LE(amount, 64);
    return {
      lamports: 1,
      owner: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      data: [data.toString('base64'), 'base64'],
      executable: false,
      rentEpoch: 0,
    };
  };
  return {
    getGenesisHash: () => network.caip2.slice('solana:'.length).padEnd(SOLANA_HASH_LENGTH, '1'),
    getLatestBlockhash: () => ({
      context: { slot: 1 },
      value: { blockhash: Keypair.generate().publicKey.toBase58(), lastValidBlockHeight: 1 },
    }),
    getMultipleAccounts: ([accounts]) => ({
      context: { slot: 1 },
      value: (accounts as string[]).map((account) => {
        const amount = held.get(account);
        return amount === undefined ? null : value(amount);
      }),
    }),
  };
}
