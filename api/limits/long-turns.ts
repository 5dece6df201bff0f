import { setTimeout as sleep, setImmediate as turnEnds } from 'node:timers/promises';

/** A piece that took longer was everybody's loss already. */
const LONGEST_PAUSE_MS = 100;

let last: Promise<unknown> = Promise.resolve();

/**
 * For work that holds the event loop for long, such as parsing a large body: one piece at a time, and after each the loop
 * is left to all others for as long as it took. Light requests find it free half of the time, however many heavy ones there
 * are. A piece is what its caller does from here to the end of the turn.
 */
export function takeLongTurn(): Promise<void> {
  const taken = last.then(() => performance.now());
  last = taken.then(async (beganAt) => {
    await turnEnds();
    const tookMs = performance.now() - beganAt;
    await sleep(Math.min(tookMs, LONGEST_PAUSE_MS), undefined, { ref: false });
  });
  return taken.then(() => undefined);
}
