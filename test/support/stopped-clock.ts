import { mock } from 'node:test';
import { nowMs } from '../../shared/process/clock.js';

/** Stops the clock until `mock.restoreAll()`. */
export function stopClock(): number {
  return stopClockAt(nowMs());
}

/** Stops the clock on a whole second, and returns it in seconds. */
export function stopClockOnSecond(): number {
  return stopClockAt(Math.ceil(nowMs() / 1000) * 1000) / 1000;
}

function stopClockAt(ms: number): number {
  const aheadMs = nowMs() - Date.now();
  mock.method(Date, 'now', () => ms - aheadMs);
  return ms;
}
