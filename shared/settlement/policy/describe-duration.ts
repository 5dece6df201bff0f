const UNITS = [
  [24 * 3_600_000, 'days'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
] as const;

/** Describes a duration in the largest unit that measures it exactly, such as `15 min`. */
export function describeDuration(ms: number): string {
  const [unitMs, unit] = UNITS.find(([size]) => ms >= size && ms % size === 0) ?? [1, 'ms'];
  return `${ms / unitMs} ${unit}`;
}
