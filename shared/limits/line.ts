import type { Pace } from './pace.js';

/** Where calls wait until they may go out: first for one of so many places, in the order of coming, then for their turn. */
export interface Line {
  enter(withinMs: number): Promise<Entry>;
  pause(ms: number): void;
  /** Who waits is refused, and whoever comes. */
  close(): void;
}

export type Entry =
  | { kind: 'entered'; leave(): void }
  /** In so many milliseconds it may be tried again. */
  | { kind: 'refused'; forMs: number };

interface LineOptions {
  pace: Pace;
  /** How many may be under way at once; it may change. */
  places: () => number;
}

/** Where it is not known when a place will be free. */
const SOME_TIME_MS = 1000;

export function openLine({ pace, places }: LineOptions): Line {
  /** Who waits for a turn. */
  const sleeping = new Set<() => void>();
  let isClosed = false;
  const waiting = new Set<(hasPlace: boolean) => void>();
  let taken = 0;

  function letIn(): void {
    for (const enter of waiting) {
      if (taken >= places()) return;
      waiting.delete(enter);
      taken += 1;
      enter(true);
    }
  }

  function leave(): void {
    taken -= 1;
    letIn();
  }

  function place(withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const enter = (hasPlace: boolean): void => {
        clearTimeout(timer);
        resolve(hasPlace);
      };
      const timer = setTimeout(() => {
        waiting.delete(enter);
        resolve(false);
      }, withinMs);
      waiting.add(enter);
      letIn();
    });
  }

  function sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        sleeping.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      sleeping.add(wake);
    });
  }

  /** Undefined when it has come. */
  async function turn(untilMs: number): Promise<Entry | undefined> {
    for (;;) {
      const { granted, waitMs } = await pace.take(Math.max(0, untilMs - performance.now()));
      if (!granted || isClosed) return { kind: 'refused', forMs: waitMs };
      if (waitMs === 0) return undefined;
      await sleep(waitMs);
      // Everybody may have been asked to wait since it was given: then it is over, and another one is taken.
      if ((await pace.pausedMs()) === 0 && !isClosed) return undefined;
    }
  }

  return {
    async enter(withinMs) {
      const untilMs = performance.now() + withinMs;
      const hasPlace = !isClosed && (await place(Math.max(0, withinMs)));
      if (!hasPlace) return { kind: 'refused', forMs: SOME_TIME_MS };
      let hasTurn = false;
      try {
        const refused = await turn(untilMs);
        hasTurn = refused === undefined;
        return refused ?? { kind: 'entered', leave };
      } finally {
        if (!hasTurn) leave();
      }
    },
    pause: (ms) => pace.pause(ms),
    close() {
      isClosed = true;
      for (const enter of waiting) enter(false);
      waiting.clear();
      for (const wake of sleeping) wake();
    },
  };
}
