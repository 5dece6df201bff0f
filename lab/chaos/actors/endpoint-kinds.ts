import { LOG_REFUSALS, type LogRefusal } from '../../world/chains/log-refusals.js';

/** The kinds of endpoints there are: how many blocks of logs at once, in whose words more is refused, how old a state. */
const LOG_RANGES = [10, 100, 2000];
/** Of how many blocks a node keeps the state: all, or few, as without an archive, scaled to the length of a run. */
const STATES = [Number.POSITIVE_INFINITY, 20];
const PAGE_SIZES = [1000, 100];

export const KINDS_OF_ENDPOINT: Record<'evm' | 'solana', readonly Record<string, string>[]> = {
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
