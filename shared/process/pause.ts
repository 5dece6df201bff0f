import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_MS = 1000;
const LONGEST_MS = 5000;

/** Longer with each failure in a row, never at the same moment as others who began with us, and over when it is told so. */
export async function pauseAfterFailure(inARow: number, over: AbortSignal): Promise<void> {
  const ms = Math.min(FIRST_MS * 2 ** Math.max(0, inARow - 1), LONGEST_MS);
  await sleep(ms * (0.75 + Math.random() / 2), undefined, { signal: over }).catch(() => undefined);
}
