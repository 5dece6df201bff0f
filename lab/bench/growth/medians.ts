import { median } from '../report/statistics.js';

export const WARM_UP = 100;

/** Medians in milliseconds. The actions alternate, so that noise affects all of them. */
export async function medians(acts: readonly (() => Promise<unknown>)[], times: number): Promise<number[]> {
  const taken = acts.map((): number[] => []);
  for (let i = -WARM_UP; i < times; i += 1) {
    for (const [which, act] of acts.entries()) {
      const startedAt = performance.now();
      await act();
      if (i >= 0) taken[which]?.push(performance.now() - startedAt);
    }
  }
  return taken.map(median);
}
