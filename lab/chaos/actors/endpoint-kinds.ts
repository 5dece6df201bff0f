import { LOG_REFUSALS, type LogRefusal } from '../../world/chains/log-refusals.js';

/**
 * Kinds of RPC endpoints: the maximum block range of eth_getLogs, the error for a wider one, and the age of the oldest
 * state.
 */
const LOG_RANGES = [10, 100, 2000];
/** The number of blocks whose state the node has: all, or few, as without an archive, scaled to the length of a run. */
const STATES = [Number.POSITIVE_INFINITY, 20];
const PAGE_SIZES = [1000, 100];

export const ENDPOINT_KINDS: Record<'evm' | 'solana', readonly Record<string, string>[]> = {
  evm: Object.keys(LOG_REFUSALS).flatMap((refusal, index) =>
    STATES.map((states) => ({
      refusal,
      logRange: String(LOG_RANGES[index % LOG_RANGES.length]),
      states: String(states),
    })),
  ),
  solana: PAGE_SIZES.map((pageSize) => ({ pageSize: String(pageSize) })),
};

export function refusalNamed(name = ''): LogRefusal {
  if (!isRefusal(name)) throw new Error(`no endpoint refuses as ${name} does`);
  return name;
}

function isRefusal(name: string): name is LogRefusal {
  return Object.hasOwn(LOG_REFUSALS, name);
}
