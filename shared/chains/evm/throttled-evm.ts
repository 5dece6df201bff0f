import { MAX_HOLDINGS_KEPT } from '../../limits/bounds.js';
import { shareAnswers } from '../../limits/share-answers.js';
import { type EvmNetwork, rpcUrlOf } from '../networks/networks.js';
import { fetchUntil } from '../rpc/endpoint-fetch.js';
import { type EndpointUnreadable, SHARED_MS, throttleEndpoint } from '../rpc/throttled-endpoint.js';
import { EvmRpc } from './evm-rpc.js';

/** Balances by token contract. The balance of a missing token could not be read. */
export type TokenBalances = ReadonlyMap<string, bigint>;

/** EVM reads for buyers' pages. A wallet's balances of a network's tokens take one request and are shared for a second. */
interface ThrottledEvm {
  tokenBalances(network: EvmNetwork, wallet: `0x${string}`): Promise<TokenBalances | EndpointUnreadable>;
}

export function throttleEvm(rpcUrls: ReadonlyMap<string, string>, timeoutMs: number): ThrottledEvm {
  const endpoints = new Map<string, ReturnType<typeof openEndpoint>>();
  return {
    tokenBalances(network, wallet) {
      const url = rpcUrlOf(rpcUrls, network);
      const endpoint = endpoints.get(network.caip2) ?? openEndpoint(network, url, timeoutMs);
      endpoints.set(network.caip2, endpoint);
      return endpoint(wallet);
    },
  };
}

function openEndpoint(network: EvmNetwork, url: string, timeoutMs: number) {
  const throttled = throttleEndpoint();
  const shared = shareAnswers<TokenBalances | EndpointUnreadable>({
    forMs: SHARED_MS,
    keys: MAX_HOLDINGS_KEPT,
  });
  const read = async (wallet: `0x${string}`): Promise<TokenBalances> => {
    const rpc = new EvmRpc(network, url, fetchUntil(AbortSignal.timeout(timeoutMs)), 'batched');
    const reads = network.tokens.map(async ({ address }): Promise<[string, bigint] | undefined> => {
      const balance = await rpc.balanceOf(address, wallet).catch(() => undefined);
      return balance === undefined ? undefined : [address, balance];
    });
    const [, ...balances] = await Promise.all([rpc.requireRightChain(), ...reads]);
    return new Map(balances.filter((known) => known !== undefined));
  };
  return (wallet: `0x${string}`) => shared(wallet, () => throttled(() => read(wallet)));
}
