import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../../../shared/process/clock.js';
import { type Random, shuffled } from '../../world/chance/seeded-random.js';
import type { FaultEntry } from '../actors/entries.js';
import type { Stage } from '../stage/stage.js';

/** One kind of trouble, made again and again. */
export interface Fault {
  everyMs: number;
  /** Says what it did, for the record; nothing when there was nothing to do. `last` ends early when all is to heal. */
  strike(stage: Stage, random: Random, last: (ms: number) => Promise<void>): Promise<Done | undefined>;
}

export type Done = Omit<FaultEntry, 'at' | 'ms'>;

/** Strikes until it is stopped, which waits for the last strike to end. */
export function keepStriking(stage: Stage, random: Random, { everyMs, strike }: Fault): () => Promise<void> {
  let isOver = false;
  const stop = new AbortController();
  const last = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: stop.signal }).catch(() => undefined);
  const striking = (async () => {
    while (!isOver) {
      await last(everyMs);
      if (isOver) return;
      const at = nowMs();
      const done = await strike(stage, random, last);
      if (done !== undefined) stage.journals.faults.write({ at, ms: nowMs() - at, ...done });
    }
  })();
  striking.catch(() => undefined); // Told by stopping.
  return async () => {
    isOver = true;
    stop.abort();
    await striking;
  };
}

/** Each has its turn before any has its second. */
export function deckOf<T>(values: readonly T[]): (random: Random) => T {
  let deck: T[] = [];
  return (random) => {
    if (deck.length === 0) deck = shuffled(random, values);
    const drawn = deck.pop();
    if (drawn === undefined) throw new Error('there is nothing to draw from');
    return drawn;
  };
}

/** What lies between two lengths. */
export function drawMs(random: Random, [shortest, longest]: readonly [number, number]): number {
  return shortest + Math.floor(random() * (longest - shortest));
}
