import type { Release } from './budget.js';
import { openConcurrency } from './concurrency.js';
import { openRateLimiter, type RateLimiter } from './rate-limiter.js';

/**
 * Throttles calls to one service: a call waits first for the end of its network's pause, then for a slot, in the order of
 * arrival, then for its turn.
 */
export interface Throttle {
  /** `pauseWithinMs`: the longest pause of its network that the call waits for. */
  enter(withinMs: number, network?: string, pauseWithinMs?: number): Promise<Entry>;
  /** Without a network, and for as long as two networks are paused, all calls pause. */
  pause(ms: number, network?: string): void;
  /** Refuses waiting and later calls. */
  close(): void;
}

export type Entry = { kind: 'entered'; release: Release } | { kind: 'refused'; retryAfterMs: number };

interface ThrottleOptions {
  rate: RateLimiter;
  /** How many calls may be in flight. Read again for each call. */
  slots: () => number;
  /** Keeps the pauses of one network. */
  openPauses?: (network: string) => RateLimiter;
}

/** For a call that got no slot, since nothing tells when one will be free. */
const RETRY_AFTER_MS = 1000;

export function openThrottle({
  rate,
  slots,
  openPauses = () => openRateLimiter(() => 0),
}: ThrottleOptions): Throttle {
  const calls = openConcurrency({ total: slots });
  const networks = new Map<string, RateLimiter>();
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

  function pausesOf(network: string): RateLimiter {
    const pauses = networks.get(network) ?? openPauses(network);
    networks.set(network, pauses);
    return pauses;
  }

  /** Undefined when the turn has come. */
  async function waitForTurn(limiter: RateLimiter, untilMs: number): Promise<Entry | undefined> {
    for (;;) {
      const { granted, waitMs } = await limiter.take(Math.max(0, untilMs - performance.now()));
      if (!granted || isClosed) return { kind: 'refused', retryAfterMs: waitMs };
      if (waitMs === 0) return undefined;
      await sleep(waitMs);
      // A pause that began after the turn was granted voids it: another turn is taken.
      if ((await limiter.pausedMs()) === 0 && !isClosed) return undefined;
    }
  }

  async function takeSlot(untilMs: number): Promise<Entry> {
    const release = await calls.take(Math.max(0, untilMs - performance.now()));
    if (release === undefined) return { kind: 'refused', retryAfterMs: RETRY_AFTER_MS };
    let hasTurn = false;
    try {
      const refused = await waitForTurn(rate, untilMs);
      hasTurn = refused === undefined;
      return refused ?? { kind: 'entered', release };
    } finally {
      if (!hasTurn) release();
    }
  }

  /** Two networks that are paused together speak for the whole service, until the first of their pauses ends. */
  async function pauseAllWhileTwoAgree(ms: number, network: string): Promise<void> {
    const others = [...networks].filter(([name]) => name !== network);
    const pausedMs = await Promise.all(others.map(([, pauses]) => pauses.pausedMs()));
    const agreedMs = Math.min(ms, Math.max(0, ...pausedMs));
    if (agreedMs > 0) rate.pause(agreedMs);
  }

  return {
    async enter(withinMs, network, pauseWithinMs = withinMs) {
      const untilMs = performance.now() + withinMs;
      if (network === undefined) return await takeSlot(untilMs);
      const pauses = pausesOf(network);
      for (;;) {
        // A call of a paused network holds no slot, since the calls of other networks can use it.
        const refused = await waitForTurn(pauses, Math.min(untilMs, performance.now() + pauseWithinMs));
        if (refused !== undefined) return refused;
        const entry = await takeSlot(untilMs);
        if (entry.kind === 'refused' || (await pauses.pausedMs()) === 0) return entry;
        // The pause began while the call waited.
        entry.release();
      }
    },
    pause(ms, network) {
      if (network === undefined) return rate.pause(ms);
      pausesOf(network).pause(ms);
      void pauseAllWhileTwoAgree(ms, network);
    },
    close() {
      isClosed = true;
      calls.close();
      for (const wake of sleeping) wake();
    },
  };
}
