import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_MS = 1000;
const LONGEST_MS = 5000;

/** Exponential backoff with jitter of 25 %. The signal ends the pause early. */
export async function pauseAfterFailure(failures: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(FIRST_MS * 2 ** Math.max(0, failures - 1), LONGEST_MS);
  await sleep(ms * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
}
