import type { Row } from '../report/benchmark.js';
import { ratioAtLeast, round } from '../report/statistics.js';
import type { BaselineName } from '../system/system.js';
import { type Load, type Measured, runLoad } from './wrk.js';

export const ROUNDS = 5;
const WARM_UP_SECONDS = 2;
const SECONDS = 3;

/** A baseline, and the ratio to it that the service should reach. */
export interface Comparison {
  against: BaselineName;
  figure: string;
  goal: number;
}

/** The load of one round; built anew for each round where a request can be used once. */
export type LoadOfRound = (seconds: number) => Load | Promise<Load>;

/** The results of one round. */
export interface Pair<Side> {
  ours: Side;
  baseline: Side;
}

/**
 * Compares the service with a baseline: in turn, in the same run, with the same tool. Each round is compared by itself,
 * since the speed of a shared machine changes, and the round with the median ratio counts.
 */
export async function compareWithBaseline(ours: LoadOfRound, baseline: LoadOfRound): Promise<Pair<Measured>> {
  const measured: Pair<Measured>[] = [];
  await runLoad(await ours(WARM_UP_SECONDS));
  await runLoad(await baseline(WARM_UP_SECONDS));
  for (let round = 0; round < ROUNDS; round += 1) {
    measured.push({
      ours: await runLoad(await ours(SECONDS)),
      baseline: await runLoad(await baseline(SECONDS)),
    });
  }
  return medianRound(measured, ({ perSecond }) => perSecond);
}

/** The round with the median ratio. */
export function medianRound<Side>(rounds: readonly Pair<Side>[], rateOf: (side: Side) => number): Pair<Side> {
  const ratio = ({ ours, baseline }: Pair<Side>): number => rateOf(ours) / rateOf(baseline);
  const sorted = [...rounds].sort((a, b) => ratio(a) - ratio(b));
  const chosen = sorted[Math.floor(sorted.length / 2)];
  if (chosen === undefined) throw new Error('nothing was measured');
  return chosen;
}

/** A row of the table: the service, the baseline, their ratio, and whether it meets its goal. */
export function rateRow(figure: string, { ours, baseline }: Pair<Measured>, goal: number): Row {
  return {
    ...compareRates(figure, { ours: ours.perSecond, baseline: baseline.perSecond }, goal),
    'ours p50 ms': round(ours.p50Ms),
    'ours p99 ms': round(ours.p99Ms),
    'baseline p50 ms': round(baseline.p50Ms),
    'baseline p99 ms': round(baseline.p99Ms),
  };
}

export function compareRates(figure: string, { ours, baseline }: Pair<number>, goal: number): Row {
  const ratio = ours / baseline;
  return {
    figure,
    'ours /s': Math.round(ours),
    'baseline /s': Math.round(baseline),
    ...ratioAtLeast(ratio, goal),
  };
}
