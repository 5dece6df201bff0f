import { hostNowMs } from '../process/clock.js';

/** The longest pause that is obeyed, whatever Retry-After asks for. */
const LONGEST_PAUSE_MS = 60_000;

/** The pause in milliseconds, from seconds or an HTTP date; undefined when none is asked for. */
export function parseRetryAfter(header: string | null | undefined): number | undefined {
  const text = header?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - hostNowMs();
  return ms > 0 ? Math.min(ms, LONGEST_PAUSE_MS) : undefined;
}

/** The value of our own Retry-After. */
export function retryAfterSeconds(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}
