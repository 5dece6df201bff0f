import { type EvmPaymentQuery, lookUpEvmPayment } from './evm.js';
import { EvmRpc } from './evm-rpc.js';
import type { ChainFinding } from './finding.js';
import { findNetwork, type Network } from './networks.js';
import { type ChainFetch, fetchUntil } from './rpc-fetch.js';
import { lookUpSolanaPayment, type SolanaPaymentQuery } from './solana.js';
import { SolanaRpc } from './solana-rpc.js';
import { ChainUnreadable, unreadableReason } from './unreadable.js';

export type PaymentQuery = EvmPaymentQuery | SolanaPaymentQuery;

export interface Chains {
  /** Never throws: what goes wrong is an `unreadable`. */
  lookUp(query: PaymentQuery): Promise<ChainFinding>;
  /** Ends the looks under way. */
  close(): void;
}

export interface ChainsOptions {
  /** For all the requests of one look together. */
  lookTimeoutMs?: number;
}

const SHUTTING_DOWN = 'the process is shutting down';

/** `rpcUrls` by the network's name in the environment; a network that is not in it is read at its public endpoint. */
export function createChains(rpcUrls: ReadonlyMap<string, string>, options: ChainsOptions = {}): Chains {
  const { lookTimeoutMs = 10_000 } = options;
  const underWay = new Set<AbortController>();
  let isClosed = false;
  /** The networks whose endpoint has said that it serves them. */
  const verified = new Set<string>();

  async function look(query: PaymentQuery, fetch: ChainFetch): Promise<ChainFinding> {
    const network = findNetwork(query.network);
    if (network === undefined) throw new ChainUnreadable(`no network is called ${query.network}`);
    const url = rpcUrls.get(network.environmentSuffix) ?? network.publicRpcUrl;
    if (query.family === 'evm' && network.family === 'evm') {
      const rpc = new EvmRpc(network, url, fetch);
      await verify(network, rpc);
      return await lookUpEvmPayment(rpc, query);
    }
    if (query.family === 'svm' && network.family === 'svm') {
      const rpc = new SolanaRpc(network, url, fetch);
      await verify(network, rpc);
      return await lookUpSolanaPayment(rpc, query);
    }
    throw new ChainUnreadable(`${query.network} is not of the family ${query.family}`);
  }

  async function verify(network: Network, rpc: { requireRightChain(): Promise<void> }): Promise<void> {
    if (verified.has(network.caip2)) return;
    await rpc.requireRightChain();
    verified.add(network.caip2);
  }

  return {
    async lookUp(query) {
      if (isClosed) return { kind: 'unreadable', reason: SHUTTING_DOWN };
      const end = new AbortController();
      const timer = setTimeout(() => {
        end.abort(new ChainUnreadable(`the endpoint took longer than ${lookTimeoutMs} ms`));
      }, lookTimeoutMs);
      underWay.add(end);
      try {
        return await look(query, fetchUntil(end.signal));
      } catch (error) {
        return { kind: 'unreadable', reason: unreadableReason(error) };
      } finally {
        clearTimeout(timer);
        underWay.delete(end);
      }
    },
    close() {
      isClosed = true;
      for (const end of underWay) end.abort(new ChainUnreadable(SHUTTING_DOWN));
    },
  };
}
