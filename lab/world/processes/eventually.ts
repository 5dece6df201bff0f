import { setTimeout as pause } from 'node:timers/promises';

const INTERVAL_MS = 20;

/**
 * Retries `check` until it does not throw, for states that other processes reach in their own time; returns its value.
 * After the deadline it throws the last error. The deadline ends a hopeless wait and measures nothing.
 */
export async function eventually<T>(check: () => T | Promise<T>, deadlineMs = 90_000): Promise<T> {
  const endsAt = performance.now() + deadlineMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > endsAt) throw error;
    }
    await pause(INTERVAL_MS);
  }
}
