import { MAX_HOLDINGS_KEPT } from '../../limits/bounds.js';
import { shareAnswers } from '../../limits/share-answers.js';
import { lazy } from '../../process/lazy.js';
import { rpcUrlOf, type SvmNetwork } from '../networks/networks.js';
import { fetchUntil } from '../rpc/endpoint-fetch.js';
import { type EndpointUnreadable, SHARED_MS, throttleEndpoint } from '../rpc/throttled-endpoint.js';
import { SolanaRpc } from './solana-rpc.js';

/**
 * Solana reads for buyers' pages, which are public: an answer is shared for a second, and so is a failure. Chain checks,
 * which decide payments, do not go through here, although they may use the same endpoint.
 */
interface ThrottledSolana {
  latestBlockhash(network: SvmNetwork): Promise<string | EndpointUnreadable>;
  /** Balances in the order of `accounts`; undefined for an account that does not exist. */
  tokenBalances(
    network: SvmNetwork,
    accounts: readonly string[],
  ): Promise<(bigint | undefined)[] | EndpointUnreadable>;
  /** Whether each account exists, in the order of `accounts`. */
  accountsExist(network: SvmNetwork, accounts: readonly string[]): Promise<boolean[] | EndpointUnreadable>;
}

const TIMEOUT_MS = 5000;
const NETWORKS = 10;

export function throttleSolana(rpcUrls: ReadonlyMap<string, string>): ThrottledSolana {
  const endpoints = new Map<string, Endpoint>();
  const endpointOf = (network: SvmNetwork): Endpoint => {
    const url = rpcUrlOf(rpcUrls, network);
    const endpoint = endpoints.get(network.caip2) ?? openEndpoint(network, url);
    endpoints.set(network.caip2, endpoint);
    return endpoint;
  };
  // A blockhash is valid for about a minute.
  const blockhashes = shareAnswers<string | EndpointUnreadable>({ forMs: SHARED_MS, keys: NETWORKS });
  const balances = shareAnswers<(bigint | undefined)[] | EndpointUnreadable>({
    forMs: SHARED_MS,
    keys: MAX_HOLDINGS_KEPT,
  });
  return {
    latestBlockhash: (network) =>
      blockhashes(network.caip2, () => endpointOf(network).ask((rpc) => rpc.getLatestBlockhash())),
    tokenBalances: (network, accounts) =>
      balances(`${network.caip2} ${accounts.join(' ')}`, () =>
        endpointOf(network).ask((rpc) => rpc.getTokenBalances(accounts)),
      ),
    accountsExist: (network, accounts) => endpointOf(network).ask((rpc) => rpc.accountsExist(accounts)),
  };
}

interface Endpoint {
  ask<T>(question: (rpc: SolanaRpc) => Promise<T>): Promise<T | EndpointUnreadable>;
}

function openEndpoint(network: SvmNetwork, url: string): Endpoint {
  const open = (): SolanaRpc => new SolanaRpc(network, url, fetchUntil(AbortSignal.timeout(TIMEOUT_MS)));
  const requireRightChain = lazy(() => open().requireRightChain());
  const throttled = throttleEndpoint();
  return {
    ask: (question) =>
      throttled(async () => {
        await requireRightChain();
        return await question(open());
      }),
  };
}
