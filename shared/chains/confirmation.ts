import { LRUCache } from 'lru-cache';
import { KnownHistory } from './authorization-history.js';
import type { EvmEndpointMemory } from './authorization-log.js';
import { BlockClock } from './block-clock.js';
import { type EvmPaymentQuery, judgeUnreadEvm, lookUpEvmPayment } from './evm.js';
import { EvmRpc } from './evm-rpc.js';
import type { ChainFinding } from './finding.js';
import { LogRange } from './log-range.js';
import { Look } from './look.js';
import { findNetwork, type Network } from './networks.js';
import { type ChainFetch, fetchUntil } from './rpc-fetch.js';
import { lookUpSolanaPayment, type SolanaPaymentQuery } from './solana.js';
import { SolanaRpc } from './solana-rpc.js';
import type { SolanaEndpointMemory } from './solana-search.js';
import { ChainUnreadable, unreadableReason } from './unreadable.js';

export type PaymentQuery = EvmPaymentQuery | SolanaPaymentQuery;

export interface Chains {
  /** Never throws: what goes wrong is a finding. `withinMs` for all the requests of this look together. */
  lookUp(query: PaymentQuery, options?: { withinMs?: number }): Promise<ChainFinding>;
  /** Ends the looks under way. */
  close(): void;
}

export interface ChainsOptions {
  /** For all the requests of one look together. */
  lookTimeoutMs?: number;
  /** Before a node that is behind the others is asked again. */
  retryPauseMs?: number;
  /** Sends the requests. */
  fetch?: ChainFetch;
}

/** 200 bytes each. */
const MOST_MESSAGES = 5000;
const SHUTTING_DOWN = 'the process is shutting down';

/** `rpcUrls` by the network's name in the environment; a network that is not in it is read at its public endpoint. */
export function createChains(rpcUrls: ReadonlyMap<string, string>, options: ChainsOptions = {}): Chains {
  const { lookTimeoutMs = 10_000, retryPauseMs = 200 } = options;
  const endpoints = new Endpoints();
  const inFlight = new Set<Look>();
  let isClosed = false;

  async function lookInto(query: PaymentQuery, look: Look): Promise<ChainFinding> {
    const network = findNetwork(query.network);
    if (network === undefined) throw new ChainUnreadable(`no network is called ${query.network}`);
    const url = rpcUrls.get(network.environmentSuffix) ?? network.publicRpcUrl;
    const fetch = fetchUntil(look.signal, options.fetch);
    if (query.family === 'evm' && network.family === 'evm') {
      const rpc = new EvmRpc(network, url, fetch);
      await endpoints.verify(network, rpc);
      return await lookUpEvmPayment({ rpc, look, memory: endpoints.ofEvm(network) }, query);
    }
    if (query.family === 'svm' && network.family === 'svm') {
      const rpc = new SolanaRpc(network, url, fetch);
      await endpoints.verify(network, rpc);
      return await lookUpSolanaPayment({ rpc, look, memory: endpoints.ofSolana(network) }, query);
    }
    throw new ChainUnreadable(`${query.network} is not of the family ${query.family}`);
  }

  return {
    async lookUp(query, { withinMs = lookTimeoutMs } = {}) {
      if (isClosed) return judgeUnread(query, SHUTTING_DOWN, undefined);
      const look = new Look({ withinMs, retryPauseMs });
      inFlight.add(look);
      try {
        return await lookInto(query, look);
      } catch (error) {
        return judgeUnread(query, unreadableReason(error), look.chainTime);
      } finally {
        look.close();
        inFlight.delete(look);
      }
    },
    close() {
      isClosed = true;
      for (const look of inFlight) look.cut(SHUTTING_DOWN);
    },
  };
}

/** What is known of the networks' endpoints. */
class Endpoints {
  readonly #rightChain = new Set<string>();
  readonly #evm = new Map<string, EvmEndpointMemory>();
  readonly #solana = new Map<string, SolanaEndpointMemory>();

  /** Asks an endpoint which chain it serves, until it has once said the right one. */
  async verify({ caip2 }: Network, rpc: { requireRightChain(): Promise<void> }): Promise<void> {
    if (this.#rightChain.has(caip2)) return;
    await rpc.requireRightChain();
    this.#rightChain.add(caip2);
  }

  ofEvm({ caip2 }: Network): EvmEndpointMemory {
    const memory = this.#evm.get(caip2) ?? {
      logRange: new LogRange(),
      history: new KnownHistory(),
      blockClock: new BlockClock(),
    };
    this.#evm.set(caip2, memory);
    return memory;
  }

  ofSolana({ caip2 }: Network): SolanaEndpointMemory {
    const memory = this.#solana.get(caip2) ?? {
      messages: new LRUCache<string, string>({ max: MOST_MESSAGES }),
    };
    this.#solana.set(caip2, memory);
    return memory;
  }
}

function judgeUnread(query: PaymentQuery, reason: string, chainTime: Date | undefined): ChainFinding {
  const known = query.family === 'evm' ? judgeUnreadEvm(query, reason) : undefined;
  return known ?? { kind: 'unreadable', reason, ...(chainTime && { chainTime }) };
}
