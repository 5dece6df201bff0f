import { LRUCache } from 'lru-cache';
import { KnownHistory } from './authorization-history.js';
import type { EvmEndpointMemory } from './authorization-log.js';
import { BlockClock } from './block-clock.js';
import { ChainCheck } from './chain-check.js';
import { checkEvmPayment, type EvmPaymentQuery, judgeUnreadEvm } from './evm.js';
import { EvmRpc } from './evm-rpc.js';
import type { ChainFinding } from './finding.js';
import { LogRange } from './log-range.js';
import { findNetwork, type Network } from './networks.js';
import { type ChainFetch, fetchUntil } from './rpc-fetch.js';
import { checkSolanaPayment, type SolanaPaymentQuery } from './solana.js';
import { SolanaRpc } from './solana-rpc.js';
import type { SolanaEndpointMemory } from './solana-search.js';
import { ChainUnreadable, unreadableReason } from './unreadable.js';

export type PaymentQuery = EvmPaymentQuery | SolanaPaymentQuery;

export interface Chains {
  /** Never throws: a failure is a finding. `withinMs` limits all requests of this check together. */
  check(query: PaymentQuery, options?: { withinMs?: number }): Promise<ChainFinding>;
  /** Aborts the checks in flight. */
  close(): void;
}

export interface ChainsOptions {
  /** Limits all requests of one check together. */
  checkTimeoutMs?: number;
  /** The pause before a lagging node is called again. */
  retryPauseMs?: number;
  fetch?: ChainFetch;
}

/** Cached message hashes, 200 bytes each. */
const MOST_MESSAGES = 5000;
const SHUTTING_DOWN = 'the process is shutting down';

/** `rpcUrls` by environment suffix; a network without an entry uses its public endpoint. */
export function createChains(rpcUrls: ReadonlyMap<string, string>, options: ChainsOptions = {}): Chains {
  const { checkTimeoutMs = 10_000, retryPauseMs = 200 } = options;
  const endpoints = new Endpoints();
  const inFlight = new Set<ChainCheck>();
  let isClosed = false;

  async function runCheck(query: PaymentQuery, check: ChainCheck): Promise<ChainFinding> {
    const network = findNetwork(query.network);
    if (network === undefined) throw new ChainUnreadable(`no network is called ${query.network}`);
    const url = rpcUrls.get(network.environmentSuffix) ?? network.publicRpcUrl;
    const fetch = fetchUntil(check.signal, options.fetch);
    if (query.family === 'evm' && network.family === 'evm') {
      const rpc = new EvmRpc(network, url, fetch);
      await endpoints.verify(network, rpc);
      return await checkEvmPayment({ rpc, check, memory: endpoints.ofEvm(network) }, query);
    }
    if (query.family === 'svm' && network.family === 'svm') {
      const rpc = new SolanaRpc(network, url, fetch);
      await endpoints.verify(network, rpc);
      return await checkSolanaPayment({ rpc, check, memory: endpoints.ofSolana(network) }, query);
    }
    throw new ChainUnreadable(`${query.network} is not of the family ${query.family}`);
  }

  return {
    async check(query, { withinMs = checkTimeoutMs } = {}) {
      if (isClosed) return judgeUnread(query, SHUTTING_DOWN, undefined);
      const check = new ChainCheck({ withinMs, retryPauseMs });
      inFlight.add(check);
      try {
        return await runCheck(query, check);
      } catch (error) {
        return judgeUnread(query, unreadableReason(error), check.chainTime);
      } finally {
        check.close();
        inFlight.delete(check);
      }
    },
    close() {
      isClosed = true;
      for (const check of inFlight) check.cut(SHUTTING_DOWN);
    },
  };
}

/** Knowledge about the networks' endpoints that is kept between checks. */
class Endpoints {
  readonly #rightChain = new Set<string>();
  readonly #evm = new Map<string, EvmEndpointMemory>();
  readonly #solana = new Map<string, SolanaEndpointMemory>();

  /** Asks an endpoint for its chain id until it has once answered the right one. */
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
