import type { Release } from './budget.js';
import { openConcurrency } from './concurrency.js';
import type { RateLimiter } from './rate-limiter.js';

/** Throttles calls to one service: a call waits first for a slot, in the order of arrival, then for its turn. */
export interface Throttle {
  enter(withinMs: number): Promise<Entry>;
  pause(ms: number): void;
  /** Refuses waiting and later calls. */
  close(): void;
}

export type Entry = { kind: 'entered'; release: Release } | { kind: 'refused'; retryAfterMs: number };

interface ThrottleOptions {
  rate: RateLimiter;
  /** How many calls may be in flight. Read again for each call. */
  slots: () => number;
}

/** For a call that got no slot, since nothing tells when one will be free. */
const RETRY_AFTER_MS = 1000;

export function openThrottle({ rate, slots }: ThrottleOptions): Throttle {
  const calls = openConcurrency({ total: slots });
  const sleeping = new Set<() => void>();
  let isClosed = false;

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

  /** Undefined when the turn has come. */
  async function waitForTurn(untilMs: number): Promise<Entry | undefined> {
    for (;;) {
      const { granted, waitMs } = await rate.take(Math.max(0, untilMs - performance.now()));
      if (!granted || isClosed) return { kind: 'refused', retryAfterMs: waitMs };
      if (waitMs === 0) return undefined;
      await sleep(waitMs);
      // A pause that began after the turn was granted voids it: another turn is taken.
      if ((await rate.pausedMs()) === 0 && !isClosed) return undefined;
    }
  }

  return {
    async enter(withinMs) {
      const untilMs = performance.now() + withinMs;
      const release = await calls.take(Math.max(0, withinMs));
      if (release === undefined) return { kind: 'refused', retryAfterMs: RETRY_AFTER_MS };
      let hasTurn = false;
      try {
        const refused = await waitForTurn(untilMs);
        hasTurn = refused === undefined;
        return refused ?? { kind: 'entered', release };
      } finally {
        if (!hasTurn) release();
      }
    },
    pause: (ms) => rate.pause(ms),
    close() {
      isClosed = true;
      calls.close();
      for (const wake of sleeping) wake();
    },
  };
}
