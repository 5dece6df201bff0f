import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { QUARANTINE_AFTER_CRASHES } from '../limits/bounds.js';
import { now, nowMs } from '../process/clock.js';
import { COUNT_CRASHES, FORGET_CRASHES, TAKE_ONE_QUARANTINED } from './statements/work-in-flight.sql.js';

/**
 * What a worker takes at once is in Postgres before it is worked on, and the statement that finishes it takes it out
 * again. So what is left behind was not finished: its worker died, or its statement failed or took too long. Rows that
 * were left behind twice are taken alone, after all others, with pauses that grow; the finishing statement forgets that.
 */
export interface WorkInFlight {
  id: string;
  ids: string[];
}

/** Between taking and finishing lies one round trip. */
const LEFT_BEHIND_MS = 5000;
const DEATHS_KEPT_MS = 24 * 3_600_000;

/** Rows that are taken alone from here on. */
export interface Quarantined {
  work: string;
  deaths: number;
  ids: string[];
}

export async function countCrashes(db: Knex): Promise<Quarantined[]> {
  const rows = await runStatement<{ work: string; id: string; deaths: number }>(db, COUNT_CRASHES, [
    new Date(nowMs() - LEFT_BEHIND_MS),
    now(),
  ]);
  const all = new Map<string, Quarantined>();
  for (const { work, id, deaths } of rows) {
    if (deaths < QUARANTINE_AFTER_CRASHES) continue;
    const key = `${work} ${deaths}`;
    const apart = all.get(key) ?? { work, deaths, ids: [] };
    apart.ids.push(id);
    all.set(key, apart);
  }
  return [...all.values()];
}

export async function takeOneQuarantined(db: Knex, work: string): Promise<WorkInFlight | undefined> {
  const [taken] = await runStatement<WorkInFlight>(db, TAKE_ONE_QUARANTINED, [work, now()]);
  return taken;
}

export async function forgetCrashes(db: Knex): Promise<void> {
  await runStatement(db, FORGET_CRASHES, [new Date(nowMs() - DEATHS_KEPT_MS)]);
}
