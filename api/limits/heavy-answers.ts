import { Refusal } from '../../shared/errors/refusal.js';
import { HEAVY_ANSWERS } from '../../shared/limits/bounds.js';

/**
 * How many heavy answers a process has in hand. One that is begun keeps next to nothing; it takes a place for each part
 * that it reads. A place goes to the account that has the fewest, and of one account to whoever has waited longest.
 */
export interface HeavyAnswers {
  /** Refuses one too many of this account, or of all. */
  begin(accountId: string): HeavyAnswer;
}

export interface HeavyAnswer {
  takePlace(): Promise<Place>;
  end(): void;
}

export interface Place {
  /** Twice is once. */
  leave(): void;
}

interface Account {
  answers: number;
  places: number;
}

interface Waiting {
  account: Account;
  enter(): void;
}

export function openHeavyAnswers(limits = HEAVY_ANSWERS): HeavyAnswers {
  const accounts = new Map<string, Account>();
  const waiting: Waiting[] = [];
  let answers = 0;
  let places = 0;

  function admit(): void {
    while (places < limits.places) {
      const next = waiting
        .filter(({ account }) => account.places < limits.placesPerAccount)
        .reduce<Waiting | undefined>(
          (first, one) => (first && first.account.places <= one.account.places ? first : one),
          undefined,
        );
      if (next === undefined) return;
      waiting.splice(waiting.indexOf(next), 1);
      places += 1;
      next.account.places += 1;
      next.enter();
    }
  }

  function placeOf(account: Account): Place {
    let isLeft = false;
    return {
      leave() {
        if (isLeft) return;
        isLeft = true;
        places -= 1;
        account.places -= 1;
        admit();
      },
    };
  }

  return {
    begin(accountId) {
      const account = accounts.get(accountId) ?? { answers: 0, places: 0 };
      if (account.answers >= limits.perAccount || answers >= limits.most) throw tooMany();
      accounts.set(accountId, account);
      account.answers += 1;
      answers += 1;
      return {
        takePlace: () =>
          new Promise((resolve) => {
            waiting.push({ account, enter: () => resolve(placeOf(account)) });
            admit();
          }),
        end() {
          answers -= 1;
          account.answers -= 1;
          if (account.answers === 0) accounts.delete(accountId);
        },
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
