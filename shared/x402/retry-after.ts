import { hostNowMs } from '../process/clock.js';

/** The longest pause that is obeyed, whatever Retry-After asks for. */
export const LONGEST_PAUSE_MS = 60_000;

/** The statuses whose Retry-After a facilitator, or a proxy before it, uses to ask for a pause. */
const ASKS_FOR_PAUSES = new Set([429, 503]);

/** The pause in milliseconds, from seconds or an HTTP date; undefined when none is asked for. */
export function pauseAskedFor(answer: {
  status: number;
  retryAfter?: string | undefined;
}): number | undefined {
  if (!ASKS_FOR_PAUSES.has(answer.status)) return undefined;
  const text = answer.retryAfter?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - hostNowMs();
  return ms > 0 ? Math.min(ms, LONGEST_PAUSE_MS) : undefined;
}
