import type { Row } from './benchmark.js';
import { type Load, type Measured, runLoad } from './load/wrk.js';

/** How ours is held against a baseline: in turn, in the same run, with the same tool; the medians count. */
export const ROUNDS = 3;
const WARM_UP_SECONDS = 2;
export const SECONDS = 5;

/** What is sent in each round; a new one each time where requests can be used once. */
export type Contender = (seconds: number) => Load | Promise<Load>;

export interface Race {
  ours: Measured;
  baseline: Measured;
}

export async function race(ours: Contender, baseline: Contender, rounds = ROUNDS): Promise<Race> {
  const measured = { ours: [] as Measured[], baseline: [] as Measured[] };
  await runLoad(await ours(WARM_UP_SECONDS));
  await runLoad(await baseline(WARM_UP_SECONDS));
  for (let round = 0; round < rounds; round += 1) {
    measured.ours.push(await runLoad(await ours(SECONDS)));
    measured.baseline.push(await runLoad(await baseline(SECONDS)));
  }
  return { ours: middle(measured.ours), baseline: middle(measured.baseline) };
}

/** The round with the median rate. */
function middle(rounds: Measured[]): Measured {
  const sorted = [...rounds].sort((a, b) => a.perSecond - b.perSecond);
  const chosen = sorted[Math.floor(sorted.length / 2)];
  if (chosen === undefined) throw new Error('nothing was measured');
  return chosen;
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** A line of the table: ours, the baseline, their ratio, and whether it meets its goal. */
export function rateRow(figure: string, { ours, baseline }: Race, goal: number): Row {
  return {
    ...compareRates(figure, ours.perSecond, baseline.perSecond, goal),
    'ours p50 ms': round(ours.p50Ms),
    'ours p99 ms': round(ours.p99Ms),
    'baseline p50 ms': round(baseline.p50Ms),
    'baseline p99 ms': round(baseline.p99Ms),
  };
}

export function compareRates(figure: string, ours: number, baseline: number, goal: number): Row {
  const ratio = ours / baseline;
  return {
    figure,
    'ours /s': Math.round(ours),
    'baseline /s': Math.round(baseline),
    ratio: round(ratio),
    goal: `≥ ${goal}`,
    met: ratio >= goal ? 'yes' : 'no',
  };
}

export const round = (value: number): number => Math.round(value * 100) / 100;
