import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../../shared/clock.js';
import type { Random } from '../../test/support/seeded-random.js';
import type { Stage } from '../stage/stage.js';

/** One kind of trouble, made again and again. */
export interface Fault {
  everyMs: number;
  /** Says what it did, for the record; nothing when there was nothing to do. */
  strike(stage: Stage, random: Random): Promise<{ fault: string; detail?: string } | undefined>;
}

/** Strikes until it is stopped, which waits for the last strike to end. */
export function keepStriking(stage: Stage, random: Random, { everyMs, strike }: Fault): () => Promise<void> {
  let isOver = false;
  const stop = new AbortController();
  const striking = (async () => {
    while (!isOver) {
      await sleep(everyMs, undefined, { signal: stop.signal }).catch(() => undefined);
      if (isOver) return;
      const done = await strike(stage, random);
      if (done !== undefined) stage.journals.faults.write({ at: nowMs(), ...done });
    }
  })();
  striking.catch(() => undefined); // Told by stopping.
  return async () => {
    isOver = true;
    stop.abort();
    await striking;
  };
}
