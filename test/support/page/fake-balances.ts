import { evmBalances, solanaBalances } from '../../../lab/world/chains/balances.js';
import { RpcEndpoint } from '../../../lab/world/chains/rpc-endpoint.js';
import { findNetwork, type Network } from '../../../shared/chains/networks/networks.js';
import { associatedTokenAccount } from '../../../shared/chains/solana/associated-token-account.js';

/** Fake chains with balances of wallets, zero by default, for the chains that the service reads for pages. */
export interface FakeBalances {
  /** Environment variables that point the service to these chains. */
  environment: Record<string, string>;
  hold(wallet: string, network: string, symbol: string, dollars: number): void;
  endpoint(network: string): RpcEndpoint;
  close(): Promise<void>;
}

export async function openFakeBalances(names: readonly string[]): Promise<FakeBalances> {
  const held = new Map<string, bigint>();
  const networks = names.map((name) => networkOf(name));
  const endpoints = new Map<string, RpcEndpoint>();
  for (const network of networks) {
    const methods =
      network.family === 'evm'
        ? evmBalances(network, (account) => held.get(`${network.chainId} ${account}`) ?? 0n)
        : solanaBalances(network, (account) => held.get(account));
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
