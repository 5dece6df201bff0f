import { raw } from 'objection';
import { now } from '../process/clock.js';
import type { Observation } from './states.js';

/** A payment's history with one more entry (a jsonb expression), unless its last one says the same. */
export function historyWith(entry: string): string {
  return `CASE WHEN history -> -1 ->> 'source' = ${entry} ->> 'source' AND history -> -1 ->> 'said' = ${entry} ->> 'said'
    THEN history ELSE history || ${entry} END`;
}

export function withObservation(said: Omit<Observation, 'at'>): ReturnType<typeof raw> {
  const entry: Observation = { at: now().toISOString(), ...said };
  return raw(historyWith('?::jsonb'), Array(3).fill(JSON.stringify(entry)));
}
