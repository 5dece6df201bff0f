import { Refusal } from '../../shared/errors/refusal.js';
import { HEAVY_ANSWERS } from '../../shared/limits/bounds.js';
import type { Release } from '../../shared/limits/budget.js';
import { openConcurrency } from '../../shared/limits/concurrency.js';

/** Limits the heavy answers in flight, and their parts in memory: each part is read in a slot. */
export interface HeavyAnswers {
  /** Throws a Refusal when this account, or all accounts together, have too many. */
  begin(accountId: string): HeavyAnswer;
}

export interface HeavyAnswer {
  takeSlot(): Promise<Release>;
  end: Release;
}

export function openHeavyAnswers(limits = HEAVY_ANSWERS): HeavyAnswers {
  const answers = openConcurrency({ total: limits.total, perHolder: [limits.perAccount] });
  const parts = openConcurrency({
    total: limits.slots,
    perHolder: [limits.slotsPerAccount],
    order: 'fewest in flight',
  });
  return {
    begin(accountId) {
      const end = answers.tryTake(accountId);
      if (end === undefined) throw tooMany();
      return {
        async takeSlot() {
          const release = await parts.take(Number.POSITIVE_INFINITY, accountId);
          if (release === undefined) throw tooMany();
          return release;
        },
        end,
      };
    },
  };
}

function tooMany(): Refusal {
  return new Refusal(
    'rate_limit',
    'Too many answers of this size are being read at once. Try again in a second, or ask for fewer objects.',
    { retryAfterSeconds: 1 },
  );
}
