import { parseRetryAfter } from '../limits/retry-after.js';

/** The statuses whose Retry-After a facilitator, or a proxy before it, uses to ask for a pause. */
const ASKS_FOR_PAUSES = new Set([429, 503]);

/** The pause in milliseconds; undefined when none is asked for. */
export function pauseAskedFor(answer: {
  status: number;
  retryAfter?: string | undefined;
}): number | undefined {
  return ASKS_FOR_PAUSES.has(answer.status) ? parseRetryAfter(answer.retryAfter) : undefined;
}
