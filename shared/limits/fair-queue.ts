import { type BudgetLimits, openBudget, type Release } from './budget.js';

/**
 * Callers that wait for a slot. Among the callers that may start, the next is the caller whose holder has the fewest slots
 * in flight; of equals, the caller that has waited longest.
 */
interface FairQueue {
  /** Undefined after `withinMs`, when the queue is full, and when it is closed. */
  wait(withinMs: number, holders: readonly string[]): Promise<Release | undefined>;
  /** Undefined when no waiting caller may start. The caller stays in the queue until it is settled. */
  next(mayStart: (holders: readonly string[]) => boolean): Waiter | undefined;
  close(): void;
}

interface Waiter {
  holders: readonly string[];
  /** Ends the wait: with a slot the caller starts, without one it is refused. */
  settle(slot: Release | undefined): void;
}

interface FairQueueOptions {
  /** How many callers may wait, in total and for each holder. */
  limits: BudgetLimits;
  /** Zero for all means first come, first served. */
  slotsInFlight(holders: readonly string[]): number;
}

export function openFairQueue({ limits, slotsInFlight }: FairQueueOptions): FairQueue {
  const room = openBudget(limits);
  const waiters = new Set<Waiter>();
  let isClosed = false;

  return {
    wait(withinMs, holders) {
      const leaveQueue = isClosed ? undefined : room.take(1, ...holders);
      if (leaveQueue === undefined) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        const waiter: Waiter = {
          holders,
          settle(slot) {
            clearTimeout(timer);
            waiters.delete(waiter);
            leaveQueue();
            resolve(slot);
          },
        };
        // setTimeout fires at once for an infinite time.
        const timer =
          withinMs === Number.POSITIVE_INFINITY
            ? undefined
            : setTimeout(() => waiter.settle(undefined), withinMs);
        waiters.add(waiter);
      });
    },
    next(mayStart) {
      let next: Waiter | undefined;
      let fewest = Number.POSITIVE_INFINITY;
      for (const waiter of waiters) {
        if (!mayStart(waiter.holders)) continue;
        const inFlight = slotsInFlight(waiter.holders);
        if (inFlight < fewest) next = waiter;
        fewest = Math.min(fewest, inFlight);
        if (fewest === 0) break;
      }
      return next;
    },
    close() {
      isClosed = true;
      for (const waiter of waiters) waiter.settle(undefined);
    },
  };
}
