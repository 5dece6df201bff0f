import { seededRandom } from '../chance/seeded-random.js';
import type { Chain } from './chain.js';
import type { BatchHandling, RateLimit } from './rate-limits.js';
import type { Fault } from './rpc-endpoint.js';

/** Begins a fault of this size on a chain: calls a second, blocks or slots. `endFaults` ends it. */
type BeginFault = (chain: Chain, size: number) => void;

/** The temporary faults of public chains and their endpoints. */
export const CHAIN_FAULTS = {
  cut: fails('cut'),
  'HTTP 500': fails('http_500'),
  'HTTP 429': fails('http_429'),
  'a limit as a JSON-RPC error': fails('limit_error'),
  'rate-limited': limits('http_429'),
  'rate-limited by JSON-RPC errors': limits('limit_error'),
  'rate-limited by an error that Solana uses otherwise': limits('over_rate'),
  'rate-limited with Retry-After': (chain, size) => {
    limits('http_429')(chain, size);
    chain.endpoint.retryAfterSeconds = 1;
  },
  'without batches': handlesBatches('refused'),
  'answering batches in part': handlesBatches('partly'),
  'out of date': ({ lag }, size) => void lag.set('*', size),
  'two nodes, one out of date': ({ nodes }, size) => nodes.spread([0, size], seededRandom(size)),
  halted: (chain) => chain.halt(),
  pruned: (chain, size) => chain.prune(size),
} satisfies Record<string, BeginFault>;

export type ChainFault = keyof typeof CHAIN_FAULTS;

export const CHAIN_FAULT_NAMES = Object.keys(CHAIN_FAULTS) as readonly ChainFault[];

export function endFaults(chain: Chain): void {
  const { endpoint, lag, nodes } = chain;
  endpoint.recover();
  endpoint.callsPerSecond = Number.POSITIVE_INFINITY;
  endpoint.retryAfterSeconds = undefined;
  endpoint.batches = 'answered';
  lag.clear();
  nodes.spread([0]);
  chain.prune(Number.POSITIVE_INFINITY);
  if (chain.isHalted) chain.resume();
}

function fails(fault: Fault): BeginFault {
  return ({ endpoint }) => endpoint.fail(fault);
}

function handlesBatches(batches: BatchHandling): BeginFault {
  return ({ endpoint }) => {
    endpoint.batches = batches;
  };
}

function limits(by: RateLimit): BeginFault {
  return ({ endpoint }, size) => {
    endpoint.limitsBy = by;
    endpoint.callsPerSecond = size;
  };
}
