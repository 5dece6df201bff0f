import { setTimeout as sleep, setImmediate as turnEnds } from 'node:timers/promises';

/** The pause after a piece of work, in lengths of the piece, and at most so long. */
const PAUSE_LENGTHS = 2;
const LONGEST_PAUSE_MS = 200;

let last: Promise<unknown> = Promise.resolve();

/**
 * Resolves when a piece of work may block the event loop for long, such as parsing a large body. One piece runs at a time,
 * and after each the loop is left to other work for twice as long as the piece took, so light requests get two thirds of the
 * time under any load of heavy ones. A piece is the caller's work from the resolved promise to the end of that event loop
 * turn.
 */
export function takeLongTurn(): Promise<void> {
  const taken = last.then(() => performance.now());
  last = taken.then(async (beganAt) => {
    await turnEnds();
    const tookMs = performance.now() - beganAt;
    await sleep(Math.min(tookMs * PAUSE_LENGTHS, LONGEST_PAUSE_MS), undefined, { ref: false });
  });
  return taken.then(() => undefined);
}
