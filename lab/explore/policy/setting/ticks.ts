/** Each limit of the policy is a few ticks long, or lies between two ticks. Workers run once per tick. */
export const TICK_MS = 30_000;

const NOW_MS = Date.UTC(2026, 0, 1);
const dates = new Map<number, Date>();

export function dateAt(tick: number): Date {
  return at(tick * TICK_MS);
}

/** The time so many milliseconds from now. Each date is made once: most steps of an exploration compare dates. */
export function at(ms: number): Date {
  const known = dates.get(ms);
  if (known !== undefined) return known;
  const date = new Date(NOW_MS + ms);
  dates.set(ms, date);
  return date;
}

export function tickOf(date: Date): number {
  return Math.ceil((date.getTime() - NOW_MS) / TICK_MS);
}

/**
 * A far time stays far until it has come near; how far does not matter. A due time is far when it is beyond every end,
 * and so is an authorization that checks must decide.
 */
export const NEAR = 8;
export const FAR_DUE = 20;
export const FAR_END = 60;
/** A far time is this many ticks ahead when it has come near: more than any rule asks for. */
export const SOON = 3;

/** The longest wait for an authorization that ends far ahead: 15 minutes. */
export const LONGEST_WAIT = 30;
/** A call that ended between 0 and 15 minutes ago counts as a call that ended then. */
export const SOME_MINUTES_AGO = -15;
export const LONG_AGO = -40;
/** A silence of the chain that began here or earlier has lasted a day. */
export const A_DAY_AGO = -30;

export function isSomeMinutesAgo(tick: number, memory: number): boolean {
  return tick <= -SOON - memory && tick > SOON + memory - LONGEST_WAIT;
}
