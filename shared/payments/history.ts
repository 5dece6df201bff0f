import { raw } from 'objection';
import { now } from '../process/clock.js';
import type { Observation } from './states.js';

/** Checks go on until a payment is decided, and their findings may alternate. */
const MAX_ENTRIES = 200;
/** Beside the first entries, which tell how the payment came to be undecided, the newest are kept. */
const FIRST_KEPT = 100;

/** SQL that appends `entry`, a jsonb expression, to a payment's history unless the last entry differs only in its time. */
export function historyWith(entry: string): string {
  return `CASE WHEN (history -> -1) - 'at' = ${entry} - 'at' THEN history
    ELSE CASE WHEN jsonb_array_length(history) < ${MAX_ENTRIES} THEN history ELSE history - ${FIRST_KEPT} END || ${entry} END`;
}

export function withObservation(said: Omit<Observation, 'at'>): ReturnType<typeof raw> {
  const entry: Observation = { at: now().toISOString(), ...said };
  return raw(historyWith('?::jsonb'), Array(2).fill(JSON.stringify(entry)));
}
