import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_MS = 1000;
const LONGEST_MS = 5000;

/** `part` 0.25: at random up to a quarter shorter or longer. */
export function withJitter(ms: number, part: number): number {
  return ms * (1 + part * (2 * Math.random() - 1));
}

/** Exponential backoff with jitter of 25 %. The signal ends the pause early. */
export async function pauseAfterFailure(failures: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(FIRST_MS * 2 ** Math.max(0, failures - 1), LONGEST_MS);
  await sleep(withJitter(ms, 0.25), undefined, { signal }).catch(() => undefined);
}
