import { SPANS } from './statements/totals.sql.js';

const MINUTE_MS = 60_000;

/** The longest span that divides all days between these times. Every time zone is whole quarters of an hour from UTC. */
export function spanFor(boundsMs: readonly number[]): (typeof SPANS)[number] {
  return SPANS.find((span) => boundsMs.every((ms) => ms % (span * MINUTE_MS) === 0)) ?? 15;
}
