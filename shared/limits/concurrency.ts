import { type BudgetLimits, openBudget, type Release } from './budget.js';
import { openFairQueue } from './fair-queue.js';

/** A limiter with at most `total` slots in flight, and at most `perHolder` of each holder; further callers wait. */
export interface Concurrency {
  /** Undefined when no slot is free for these holders. */
  tryTake(...holders: string[]): Release | undefined;
  /** Undefined after `withinMs`, when too many callers wait, and when the limiter is closed. */
  take(withinMs: number, ...holders: string[]): Promise<Release | undefined>;
  /** Starts waiting callers when the total may have grown. */
  startWaiting(): void;
  /** Refuses waiting and later callers. Slots in flight are released as before. */
  close(): void;
}

export interface ConcurrencyLimits extends BudgetLimits {
  /** How many callers may wait. */
  waiting?: BudgetLimits;
  /** The order in which waiting callers start. "Fewest in flight" counts the slots of the first holder. */
  order?: 'longest waiting' | 'fewest in flight';
}

/** A limiter without a limit, which counts and allocates nothing. */
export const UNLIMITED: Pick<Concurrency, 'tryTake'> = { tryTake: () => releaseNothing };

export function openConcurrency({
  waiting = { total: Number.POSITIVE_INFINITY },
  order = 'longest waiting',
  ...limits
}: ConcurrencyLimits): Concurrency {
  const slots = openBudget(limits);
  const queue = openFairQueue({
    limits: waiting,
    slotsInFlight: ([holder = '']) => (order === 'fewest in flight' ? slots.usedBy(holder) : 0),
  });
  let isClosed = false;

  function startWaiting(): void {
    while (slots.left > 0) {
      const next = queue.next((holders) => slots.fits(1, ...holders));
      if (next === undefined) return;
      next.settle(takeSlot(next.holders));
    }
  }

  function takeSlot(holders: readonly string[]): Release | undefined {
    const release = slots.take(1, ...holders);
    if (release === undefined) return undefined;
    return () => {
      release();
      startWaiting();
    };
  }

  return {
    tryTake: (...holders) => (isClosed ? undefined : takeSlot(holders)),
    async take(withinMs, ...holders) {
      if (isClosed) return undefined;
      // The total may have grown: callers that wait already start first.
      startWaiting();
      return takeSlot(holders) ?? (await queue.wait(withinMs, holders));
    },
    startWaiting,
    close() {
      isClosed = true;
      queue.close();
    },
  };
}

function releaseNothing(): void {}
