import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';

/** Each trial begins at the same offset between two blocks, so that it is reproducible. */
const BEGINS_EVERY_MS = 10_000;
const BEGINS_AT_MS = 500;

let isHeld = false;

/**
 * Virtual time: the clock stands still, and advances only by steps. Returns a function that restores the real clock.
 */
export function holdTime(): () => void {
  if (isHeld) throw new Error('time is held already: two trials at once');
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
