import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { QUARANTINE_AFTER_CRASHES } from '../limits/bounds.js';
import { now, nowMs } from '../process/clock.js';
import { COUNT_CRASHES, REMOVE_OLD_CRASHES, TAKE_ONE_QUARANTINED } from './statements/work-in-flight.sql.js';

/**
 * A worker records the ids of a batch in `work_in_hand` before it works on them, and the statement that finishes the batch
 * deletes the record. A record that remains belongs to a crashed worker, or to a statement that failed or timed out.
 * Rows with QUARANTINE_AFTER_CRASHES crashes are quarantined: taken one at a time, after all others, with growing pauses.
 * Success deletes a row's crash count.
 */
export interface WorkInFlight {
  id: string;
  ids: string[];
}

/** A batch is finished one round trip after it was taken, so an older record counts as a crash. */
const CRASHED_AFTER_MS = 5000;
const CRASHES_KEPT_MS = 24 * 3_600_000;

/** Rows that have just entered, or returned to, quarantine. */
interface Quarantined {
  work: string;
  crashes: number;
  ids: string[];
}

export async function countCrashes(db: Knex): Promise<Quarantined[]> {
  const rows = await runStatement<{ work: string; id: string; crashes: number }>(db, COUNT_CRASHES, [
    new Date(nowMs() - CRASHED_AFTER_MS),
    now(),
  ]);
  const all = new Map<string, Quarantined>();
  for (const { work, id, crashes } of rows) {
    if (crashes < QUARANTINE_AFTER_CRASHES) continue;
    const key = `${work} ${crashes}`;
    const quarantined = all.get(key) ?? { work, crashes, ids: [] };
    quarantined.ids.push(id);
    all.set(key, quarantined);
  }
  return [...all.values()];
}

export async function takeOneQuarantined(db: Knex, work: string): Promise<WorkInFlight | undefined> {
  const [taken] = await runStatement<WorkInFlight>(db, TAKE_ONE_QUARANTINED, [work, now()]);
  return taken;
}

export async function removeOldCrashes(db: Knex): Promise<void> {
  await runStatement(db, REMOVE_OLD_CRASHES, [new Date(nowMs() - CRASHES_KEPT_MS)]);
}
