import type { Row } from './benchmark.js';

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** The smallest value that this share of the values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round((sorted[Math.ceil(share * sorted.length) - 1] ?? 0) * 10) / 10;
}

/** Rounds to hundredths. */
export const round = (value: number): number => Math.round(value * 100) / 100;

/** The columns of a ratio, and whether it keeps within its goal. */
export function ratioAtMost(ratio: number, goal: number): Row {
  return { ratio: round(ratio), goal: `≤ ${goal}`, met: ratio <= goal ? 'yes' : 'no' };
}

/** The columns of a ratio, and whether it reaches its goal. */
export function ratioAtLeast(ratio: number, goal: number): Row {
  return { ratio: round(ratio), goal: `≥ ${goal}`, met: ratio >= goal ? 'yes' : 'no' };
}
