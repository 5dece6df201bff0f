import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';

/** Each story begins at the same moment between two blocks, so that it goes the same way again. */
const BEGINS_EVERY_MS = 10_000;
const BEGINS_AT_MS = 500;

let isHeld = false;

/** Virtual time: the machine's clock stands still, and time passes when a step says so. Returns how to let go of it. */
export function holdTime(): () => void {
  if (isHeld) throw new Error('time is held already: two stories at once');
  isHeld = true;
  const { now } = Date;
  const heldMs = now();
  Date.now = () => heldMs;
  passUntil(Math.ceil(nowMs() / BEGINS_EVERY_MS) * BEGINS_EVERY_MS + BEGINS_AT_MS);
  return () => {
    Date.now = now;
    isHeld = false;
    resetClock();
  };
}

export function passUntil(atMs: number): void {
  advanceClock(Math.max(0, Math.ceil(atMs) - nowMs()));
}
