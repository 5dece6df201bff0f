import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../../../shared/process/clock.js';
import { type Random, shuffled } from '../../world/chance/seeded-random.js';
import type { FaultEntry } from '../journals/entries.js';
import type { System } from '../system/system.js';

/** A kind of fault that is injected repeatedly: `allFaults` in `run/run.ts` lists the kinds. */
export interface Fault {
  everyMs: number;
  /**
   * Injects the fault once and describes it for the journal; undefined when there was nothing to do. `wait`
   * ends early at recovery.
   */
  inject(system: System, random: Random, wait: (ms: number) => Promise<void>): Promise<Injected | undefined>;
}

export type Injected = Omit<FaultEntry, 'at' | 'ms'>;

/** Injects the fault repeatedly until the returned function is called, which waits for the last injection to end. */
export function repeatFault(system: System, random: Random, { everyMs, inject }: Fault): () => Promise<void> {
  let isOver = false;
  const stop = new AbortController();
  const wait = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: stop.signal }).catch(() => undefined);
  const repeating = (async () => {
    while (!isOver) {
      await wait(everyMs);
      if (isOver) return;
      const at = nowMs();
      const done = await inject(system, random, wait);
      if (done !== undefined) system.journals.faults.write({ at, ms: nowMs() - at, ...done });
    }
  })();
  repeating.catch(() => undefined); // The error is reported when the fault is stopped.
  return async () => {
    isOver = true;
    stop.abort();
    await repeating;
  };
}

/** Draws values at random; every value has its turn before any repeats. */
export function deckOf<T>(values: readonly T[]): (random: Random) => T {
  let deck: T[] = [];
  return (random) => {
    if (deck.length === 0) deck = shuffled(random, values);
    const drawn = deck.pop();
    if (drawn === undefined) throw new Error('there is nothing to draw from');
    return drawn;
  };
}

/** A random length between two lengths, in milliseconds. */
export function drawMs(random: Random, [shortest, longest]: readonly [number, number]): number {
  return shortest + Math.floor(random() * (longest - shortest));
}
