import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../process/clock.js';
import { isDatabaseUnavailable, isGivenUp, isRefusal } from './postgres-errors.js';

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 2000;

interface Outage {
  /** Retries end at this time. */
  until: Date;
  /** True when no other process knows the content of the write: then every error of Postgres is retried. */
  isOnlyCopy: boolean;
  onBroken(error: unknown): void;
}

/**
 * Retries a write on another connection when its connection broke, when Postgres gave it up, and whenever its content would
 * be lost with it. The first attempt may have been committed, so `write` must be idempotent.
 */
export async function retryThroughOutage<T>(
  { until, isOnlyCopy, onBroken }: Outage,
  write: () => Promise<T>,
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await write();
    } catch (error) {
      const mayPass = isDatabaseUnavailable(error) || isGivenUp(error) || (isOnlyCopy && isRefusal(error));
      if (!mayPass || nowMs() + pauseMs >= until.getTime()) throw error;
      onBroken(error);
    }
    await sleep(pauseMs);
  }
}
