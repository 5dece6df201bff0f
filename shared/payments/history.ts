import { raw } from 'objection';
import { now } from '../process/clock.js';
import type { Observation } from './states.js';

/** SQL that appends `entry`, a jsonb expression, to a payment's history unless the last entry has its source and statement. */
export function historyWith(entry: string): string {
  return `CASE WHEN history -> -1 ->> 'source' = ${entry} ->> 'source' AND history -> -1 ->> 'said' = ${entry} ->> 'said'
    THEN history ELSE history || ${entry} END`;
}

export function withObservation(said: Omit<Observation, 'at'>): ReturnType<typeof raw> {
  const entry: Observation = { at: now().toISOString(), ...said };
  return raw(historyWith('?::jsonb'), Array(3).fill(JSON.stringify(entry)));
}
