import { type About, openAccountPauses } from './account-pauses.js';
import { LEAVE_A_QUARTER, type Release } from './budget.js';
import { openConcurrency } from './concurrency.js';
import { openRateLimiter, type RateLimiter } from './rate-limiter.js';

/**
 * Throttles calls to one service: a call waits first for the end of the pauses of its network and of its account there, then
 * for a slot, in the order of arrival, then for its turn. A network alone has at most three quarters of the slots, so that
 * calls that hang leave some to others.
 */
export interface Throttle {
  /** `pauseWithinMs`: the longest pause that the call waits for. */
  enter(withinMs: number, about?: About, pauseWithinMs?: number): Promise<Entry>;
  /** A network pauses. Without a network, and for as long as two networks are paused, all calls pause. */
  pause(ms: number, network?: string): void;
  /** An account pauses. For as long as two accounts are paused because of different payers, their network does. */
  pauseAccount(ms: number, about: About, payer: string): void;
  /** Lets waiting calls take slots that there are now. */
  useSlots(): void;
  /** Refuses waiting and later calls. */
  close(): void;
}

export type Entry = { kind: 'entered'; release: Release } | { kind: 'refused'; retryAfterMs: number };

interface ThrottleOptions {
  rate: RateLimiter;
  /** How many calls may be in flight. Read again for each call, and by `useSlots`. */
  slots: () => number;
  /** Keeps the pauses of one network, or of one account on a network. */
  openPauses?: (name: string) => RateLimiter;
}

type Turns = Pick<RateLimiter, 'take' | 'pausedMs'>;

/** A call that got no slot may come again after this time, since nothing tells when one will be free. */
const RETRY_AFTER_MS = 1000;

export function openThrottle({
  rate,
  slots,
  openPauses = () => openRateLimiter(() => 0),
}: ThrottleOptions): Throttle {
  const calls = openConcurrency({ total: slots, perHolder: [Infinity], dynamicThreshold: LEAVE_A_QUARTER });
  const networks = new Map<string, RateLimiter>();
  const accounts = openAccountPauses(openPauses);
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
  async function waitForTurn(limiter: Turns, untilMs: number): Promise<Entry | undefined> {
    for (;;) {
      const { granted, waitMs } = await limiter.take(Math.max(0, untilMs - performance.now()));
      if (!granted || isClosed) return { kind: 'refused', retryAfterMs: waitMs };
      if (waitMs === 0) return undefined;
      await sleep(waitMs);
      // A pause that began after the turn was granted voids it: another turn is taken.
      if ((await limiter.pausedMs()) === 0 && !isClosed) return undefined;
    }
  }

  async function takeSlot(untilMs: number, holders: readonly string[]): Promise<Entry> {
    const release = await calls.take(Math.max(0, untilMs - performance.now()), ...holders);
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

  function pause(ms: number, network?: string): void {
    if (network === undefined) {
      rate.pause(ms);
      return;
    }
    pausesOf(network).pause(ms);
    void pauseAllWhileTwoAgree(ms, network);
  }

  return {
    async enter(withinMs, about, pauseWithinMs = withinMs) {
      const untilMs = performance.now() + withinMs;
      if (about === undefined) return await takeSlot(untilMs, []);
      const { network } = about;
      const pauses = longestOf(pausesOf(network), accounts.of(about));
      for (;;) {
        // A paused call holds no slot, since the calls of other networks and accounts can use it.
        const refused = await waitForTurn(pauses, Math.min(untilMs, performance.now() + pauseWithinMs));
        if (refused !== undefined) return refused;
        const entry = await takeSlot(untilMs, [network]);
        if (entry.kind === 'refused' || (await pauses.pausedMs()) === 0) return entry;
        // The pause began while the call waited.
        entry.release();
      }
    },
    pause,
    pauseAccount(ms, about, payer) {
      const agreedMs = accounts.pause(ms, about, payer);
      if (agreedMs > 0) pause(agreedMs, about.network);
    },
    useSlots: calls.startWaiting,
    close() {
      isClosed = true;
      calls.close();
      for (const wake of sleeping) wake();
    },
  };
}

/** Joins several pauses: the longest applies. */
function longestOf(...pauses: RateLimiter[]): Turns {
  const pausedMs = async (): Promise<number> =>
    Math.max(...(await Promise.all(pauses.map((one) => one.pausedMs()))));
  return {
    pausedMs,
    async take(withinMs) {
      const waitMs = await pausedMs();
      return { granted: waitMs <= withinMs, waitMs };
    },
  };
}
