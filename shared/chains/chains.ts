import { lruCache } from '../limits/lru-cache.js';
import { lazy } from '../process/lazy.js';
import { ChainCheck } from './check/chain-check.js';
import type { ChainFinding } from './check/finding.js';
import { ChainUnreadable, causesOf, NoTurn, unreadableReason } from './check/unreadable.js';
import { KnownHistory } from './evm/authorization-history.js';
import type { EvmEndpointMemory } from './evm/authorization-log.js';
import { BlockClock } from './evm/block-clock.js';
import { checkEvmPayment, type EvmPaymentQuery, judgeUnreadEvm } from './evm/evm.js';
import { EvmRpc } from './evm/evm-rpc.js';
import { LogRange } from './evm/log-range.js';
import { confirmationsOf, findNetwork, type Network, rpcUrlOf } from './networks/networks.js';
import type { QueuedCheck } from './rpc/endpoint-queue.js';
import { EndpointQueues, type EndpointQueuesOptions, type EndpointState } from './rpc/endpoint-queues.js';
import type { ChainFetch } from './rpc/rpc-fetch.js';
import type { SolanaPaymentQuery } from './solana/solana.js';
import type { SolanaEndpointMemory } from './solana/solana-search.js';

export type PaymentQuery = EvmPaymentQuery | SolanaPaymentQuery;

export interface Chains {
  /** Never throws: a failure is a finding. */
  check(query: PaymentQuery, options?: CheckOptions): Promise<ChainFinding>;
  /** Aborts the checks in flight. */
  close(): void;
}

interface CheckOptions {
  /** Limits all requests of this check together; the time in which it only waits for its turn does not count. */
  withinMs?: number;
  /** The payment's decision is due then. The check with the earliest time goes first at its endpoint, one without a time last. */
  checkDeadline?: Date | undefined;
  /** No payment waits for the check: it goes after all others, and takes nothing from them. */
  inBackground?: boolean;
}

export interface OpenChains extends Chains {
  endpoints(): EndpointState[];
}

export interface ChainsOptions extends EndpointQueuesOptions {
  /** The confirmations that an EVM network's outcomes need, by environment suffix; one where none is given. */
  confirmations?: ReadonlyMap<string, number>;
  /** Limits all requests of one check together. */
  checkTimeoutMs?: number;
  /** The pause before a lagging node is called again. */
  retryPauseMs?: number;
  /** The queues that the checks share with others of the process; the other options of queues are not used then. */
  queues?: EndpointQueues;
}

/** Identities of messages, 400 bytes each. */
const MOST_MESSAGES = 5000;
/** How long a check's calls may wait for their turns, as a part of its time. Both together are less than a stop of the worker. */
const TURNS_PART = 0.8;
const SHUTTING_DOWN = 'the process is shutting down';
/** Called with the first Solana payment. */
const loadSolana = lazy(async () => ({
  ...(await import('./solana/solana.js')),
  ...(await import('./solana/solana-rpc.js')),
}));

/**
 * `rpcUrls` by environment suffix; a network without an entry uses its public endpoint. A process shares its endpoints' queues
 * only if it creates them once.
 */
export function createChains(rpcUrls: ReadonlyMap<string, string>, options: ChainsOptions = {}): OpenChains {
  const { checkTimeoutMs = 10_000, retryPauseMs = 200, confirmations = new Map() } = options;
  const endpoints = new Endpoints();
  const queues = options.queues ?? new EndpointQueues(options);
  const inFlight = new Set<ChainCheck>();
  let isClosed = false;

  async function runCheck(query: PaymentQuery, check: ChainCheck, fetch: ChainFetch): Promise<ChainFinding> {
    const network = networkOf(query);
    const url = rpcUrlOf(rpcUrls, network);
    if (query.family === 'evm' && network.family === 'evm') {
      const rpc = new EvmRpc(network, url, fetch);
      await endpoints.verify(network, rpc);
      const memory = endpoints.ofEvm(network);
      const needed = Math.max(1, confirmationsOf(confirmations, network.caip2));
      return await checkEvmPayment({ rpc, check, memory, confirmations: needed }, query);
    }
    if (query.family === 'svm' && network.family === 'svm') {
      const { checkSolanaPayment, SolanaRpc } = await loadSolana();
      const rpc = new SolanaRpc(network, url, fetch);
      await endpoints.verify(network, rpc);
      return await checkSolanaPayment({ rpc, check, memory: endpoints.ofSolana(network) }, query);
    }
    throw new ChainUnreadable(`${query.network} is not of the family ${query.family}`);
  }

  return {
    async check(query, { withinMs = checkTimeoutMs, checkDeadline, inBackground } = {}) {
      if (isClosed) return judgeUnread(query, SHUTTING_DOWN);
      const turnsWithinMs = withinMs * TURNS_PART;
      const check = new ChainCheck({ withinMs, turnsWithinMs, retryPauseMs });
      inFlight.add(check);
      let queued: QueuedCheck | undefined;
      try {
        const network = networkOf(query);
        const queue = queues.of(rpcUrlOf(rpcUrls, network), network);
        queued = queue.enter(check, { checkDeadline, inBackground, turnsWithinMs });
        return await runCheck(query, check, queued.fetch);
      } catch (error) {
        return judgeUnread(query, unreadableReason(error), check.chainTime, againInMs(error));
      } finally {
        queued?.leave();
        check.close();
        inFlight.delete(check);
      }
    },
    endpoints: () => queues.states(),
    close() {
      isClosed = true;
      for (const check of inFlight) check.cut(SHUTTING_DOWN);
    },
  };
}

function networkOf({ network: caip2 }: PaymentQuery): Network {
  const network = findNetwork(caip2);
  if (network === undefined) throw new ChainUnreadable(`no network is called ${caip2}`);
  return network;
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
      messages: lruCache<string>(MOST_MESSAGES),
    };
    this.#solana.set(caip2, memory);
    return memory;
  }
}

/** Undefined when the endpoint was asked. */
function againInMs(error: unknown): number | undefined {
  return causesOf(error).find((cause) => cause instanceof NoTurn)?.againInMs;
}

function judgeUnread(
  query: PaymentQuery,
  reason: string,
  chainTime?: Date,
  againInMs?: number,
): ChainFinding {
  const known = query.family === 'evm' ? judgeUnreadEvm(query, reason) : undefined;
  if (known !== undefined) return known;
  return {
    kind: 'unreadable',
    reason,
    ...(chainTime && { chainTime }),
    ...(againInMs !== undefined && { againInMs }),
  };
}
