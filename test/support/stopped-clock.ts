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
  let hostMs = Date.now();
  mock.method(Date, 'now', () => hostMs);
  // Both times are of the stopped clock: between two readings of a running one a busy machine lets a millisecond pass.
  hostMs = ms - (nowMs() - Date.now());
  return ms;
}
