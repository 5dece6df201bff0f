import { Tally } from './tally.js';

/** Gives back the amount that was taken. Idempotent. */
export type Release = () => void;

export interface BudgetLimits {
  /** A function where the total changes with time. */
  total: number | (() => number);
  /** Limits by kind of holder, in the order in which callers name their holders: account, host. */
  perHolder?: readonly number[];
  dynamicThreshold?: DynamicThreshold;
}

/**
 * A holder with an amount gets more only while the amount is at most `timesFree` times the free amount, and never the last
 * of that, so that the next holder finds some. Callers without holders have no such limit.
 */
interface DynamicThreshold {
  timesFree: number;
  /** How many kinds of holder it applies to, from the first on. */
  kinds: number;
}

/** A single account gets half of the budget at most, unless it takes that at once. */
export const LEAVE_HALF: DynamicThreshold = { timesFree: 1, kinds: 1 };

/** A single network gets three quarters of the budget, and a single account there as much of that: hung calls leave slots. */
export const LEAVE_A_QUARTER: DynamicThreshold = { timesFree: 3, kinds: 2 };

/** An amount of bytes or slots: at most `total` in use, and at most `perHolder` by each holder. */
export interface Budget {
  readonly used: number;
  /** Negative while more is in use than a total that has shrunk. */
  readonly left: number;
  /** The amount in use by a holder of the first kind. */
  usedBy(holder: string): number;
  fits(amount: number, ...holders: string[]): boolean;
  /** Undefined when the amount does not fit. */
  take(amount: number, ...holders: string[]): Release | undefined;
  /** Takes an amount that grows while it is in use, such as a body that is being read. */
  claim(...holders: string[]): Claim;
}

export interface Claim {
  /** False, and nothing changes, when the larger amount does not fit or the claim was released. */
  growTo(amount: number): boolean;
  release: Release;
}

export function openBudget({ total, perHolder = [], dynamicThreshold }: BudgetLimits): Budget {
  const kinds = perHolder.map((limit) => ({ limit, tally: new Tally() }));
  let used = 0;

  const left = (): number => (typeof total === 'number' ? total : total()) - used;

  const usedBy = (holder: string): number => kinds[0]?.tally.of(holder) ?? 0;

  function fits(amount: number, holders: readonly string[]): boolean {
    if (amount > left()) return false;
    if (dynamicThreshold !== undefined && !leavesSome(amount, holders, dynamicThreshold)) return false;
    return kinds.every(({ limit, tally }, kind) => tally.of(holders[kind] ?? '') + amount <= limit);
  }

  function leavesSome(amount: number, holders: readonly string[], threshold: DynamicThreshold): boolean {
    const { timesFree } = threshold;
    let room = left();
    for (const [kind, holder] of holders.slice(0, threshold.kinds).entries()) {
      const own = kinds[kind]?.tally.of(holder) ?? 0;
      if (own > 0 && (room <= amount || own + amount > timesFree * room)) return false;
      // The holders of the next kind divide the most that this holder can still get.
      room = Math.floor((timesFree * room - own) / (timesFree + 1));
    }
    return true;
  }

  function add(amount: number, holders: readonly string[]): void {
    used += amount;
    for (const [kind, { tally }] of kinds.entries()) tally.add(holders[kind] ?? '', amount);
  }

  function claim(...holders: string[]): Claim {
    let held = 0;
    let isReleased = false;
    return {
      growTo(amount) {
        if (isReleased || !fits(amount - held, holders)) return false;
        add(amount - held, holders);
        held = amount;
        return true;
      },
      release() {
        isReleased = true;
        add(-held, holders);
        held = 0;
      },
    };
  }

  return {
    get used() {
      return used;
    },
    get left() {
      return left();
    },
    usedBy,
    fits: (amount, ...holders) => fits(amount, holders),
    take(amount, ...holders) {
      const { growTo, release } = claim(...holders);
      return growTo(amount) ? release : undefined;
    },
    claim,
  };
}
