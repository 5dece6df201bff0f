import type { Counter } from './memory-counters.js';

/**
 * Charges a request for its rows: first the share of this second, then the burst. A request that needs more than both can
 * ever hold takes the whole rest when the burst is full, and leaves a debt: the account has no share until the steady rate
 * has paid it.
 */
export function rowCharger(
  steady: Counter,
  burst: Counter,
  burstSeconds: number,
): (key: string, more: number) => Promise<number | undefined> {
  return async (key, more) => {
    const [inSecond, inBurst] = await Promise.all([steady.left(key), burst.left(key)]);
    // The request itself was counted before.
    const isLarge = more + 1 > steady.points + burst.points;
    const isWhole = inBurst.granted === burst.points;
    if (inSecond.granted + inBurst.granted < more && !(isLarge && isWhole)) {
      const fitsInNextSecond = !isLarge && steady.points - 1 + inBurst.granted >= more;
      return fitsInNextSecond ? inSecond.msBeforeNext : Math.max(inSecond.msBeforeNext, inBurst.msBeforeNext);
    }
    const fromSecond = await countAtMost(steady, key, Math.min(more, inSecond.granted));
    const rest = more - fromSecond;
    if (rest === 0) return undefined;
    const { granted, msBeforeNext } = await burst.count(key, rest);
    const debt = rest - granted;
    if (debt === 0) return undefined;
    // Another request has taken of the burst meanwhile.
    if (!isLarge || granted < burst.points) return msBeforeNext;
    const seconds = Math.ceil(debt / steady.points);
    await Promise.all([steady.useUp(key, seconds), burst.useUp(key, seconds + burstSeconds)]);
    return undefined;
  };
}

async function countAtMost(counter: Counter, key: string, asked: number): Promise<number> {
  return asked === 0 ? 0 : (await counter.count(key, asked)).granted;
}
