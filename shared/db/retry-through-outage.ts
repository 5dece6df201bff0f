import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../process/clock.js';
import { isDatabaseUnavailable } from './constraints.js';

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 2000;

export interface Outage {
  /** When to give up. */
  until: Date;
  onBroken(error: unknown): void;
}

/**
 * Writes on another connection what could not be written because one broke. The first may have been carried out all the
 * same, so `write` must be one that changes nothing the second time.
 */
export async function retryThroughOutage<T>(
  { until, onBroken }: Outage,
  write: () => Promise<T>,
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await write();
    } catch (error) {
      if (!isDatabaseUnavailable(error) || nowMs() + pauseMs >= until.getTime()) throw error;
      onBroken(error);
    }
    await sleep(pauseMs);
  }
}
