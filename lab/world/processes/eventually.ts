import { setTimeout as pause } from 'node:timers/promises';

const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 200;
/** A wait ends this part of its length too late; more frequent checks would slow the awaited work. */
const PAUSE_SHARE = 0.05;

/**
 * Retries `check` until it does not throw, for states that other processes reach in their own time; returns its value.
 * After the deadline it throws the last error. The deadline ends a hopeless wait and measures nothing.
 */
export async function eventually<T>(check: () => T | Promise<T>, deadlineMs = 180_000): Promise<T> {
  const beganAt = performance.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() - beganAt > deadlineMs) throw error;
    }
    const waitedMs = performance.now() - beganAt;
    await pause(Math.min(Math.max(waitedMs * PAUSE_SHARE, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS));
  }
}
