import { setTimeout as pause } from 'node:timers/promises';

const INTERVAL_MS = 20;

/**
 * What `check` gives, once it no longer throws: for states that other processes reach in their own time. At the
 * deadline its last complaint is thrown. The deadline is there to end a hopeless wait, not to measure anything.
 */
export async function eventually<T>(check: () => T | Promise<T>, deadlineMs = 40_000): Promise<T> {
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
