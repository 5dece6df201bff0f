import { hostNowMs } from '../process/clock.js';

/** Nobody is kept waiting for longer, whatever is asked for. */
export const LONGEST_PAUSE_MS = 60_000;

/** With these a facilitator, or the proxy before it, may say how long it wants no more calls. */
const ASKS_FOR_PAUSES = new Set([429, 503]);

/** In seconds, or until a time of day; undefined when no pause is asked for. */
export function pauseAskedFor(answer: {
  status: number;
  retryAfter?: string | undefined;
}): number | undefined {
  if (!ASKS_FOR_PAUSES.has(answer.status)) return undefined;
  const text = answer.retryAfter?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - hostNowMs();
  return ms > 0 ? Math.min(ms, LONGEST_PAUSE_MS) : undefined;
}
