import { BLOCK_LAG_MS, LONGEST_WATCH_MS, WATCH_INTERVAL_MS } from './limits.js';

/** The next check for late money: soon after the authorization's end, then hourly. */
export function nextWatchTime(now: Date, validUntil: Date): Date {
  const afterEnd = validUntil.getTime() + BLOCK_LAG_MS;
  const hourLater = now.getTime() + WATCH_INTERVAL_MS;
  return new Date(afterEnd > now.getTime() ? Math.min(afterEnd, hourLater) : hourLater);
}

/** A failed payment is watched for a week. */
export function isWatchOver(next: Date, failedAt: Date): boolean {
  return next.getTime() > failedAt.getTime() + LONGEST_WATCH_MS;
}

/** Undefined when the next check would come after the end of the watch. */
export function nextWatch(now: Date, validUntil: Date, failedAt: Date): Date | undefined {
  const next = nextWatchTime(now, validUntil);
  return isWatchOver(next, failedAt) ? undefined : next;
}
