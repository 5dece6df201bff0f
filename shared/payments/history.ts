import { raw } from 'objection';
import { now } from '../process/clock.js';
import type { Observation } from './states.js';

/** SQL that appends `entry`, a jsonb expression, to a payment's history unless the last entry differs only in its time. */
export function historyWith(entry: string): string {
  return `CASE WHEN (history -> -1) - 'at' = ${entry} - 'at' THEN history ELSE history || ${entry} END`;
}

export function withObservation(said: Omit<Observation, 'at'>): ReturnType<typeof raw> {
  const entry: Observation = { at: now().toISOString(), ...said };
  return raw(historyWith('?::jsonb'), Array(2).fill(JSON.stringify(entry)));
}
