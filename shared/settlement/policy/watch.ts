import { LONGEST_WATCH_MS, UNREADABLE_MARGIN_MS, WATCH_INTERVAL_MS } from './limits.js';

/** A late look soon after the authorization's end, then hourly, at most for a week; undefined when it is over. */
export function nextWatch(now: Date, validUntil: Date, failedAt: Date): Date | undefined {
  const afterEnd = validUntil.getTime() + UNREADABLE_MARGIN_MS;
  const hourLater = now.getTime() + WATCH_INTERVAL_MS;
  const next = afterEnd > now.getTime() ? Math.min(afterEnd, hourLater) : hourLater;
  return next > failedAt.getTime() + LONGEST_WATCH_MS ? undefined : new Date(next);
}
