import { mock } from 'node:test';
import { nowMs } from '../../shared/process/clock.js';

/** The clock stands still until `mock.restoreAll()`. */
export function stopClock(): number {
  return stopClockAt(nowMs());
}

/** On a whole second; the answer is in seconds. */
export function stopClockOnSecond(): number {
  return stopClockAt(Math.ceil(nowMs() / 1000) * 1000) / 1000;
}

function stopClockAt(ms: number): number {
  const aheadMs = nowMs() - Date.now();
  mock.method(Date, 'now', () => ms - aheadMs);
  return ms;
}
