import type { Knex } from '../db/knex.js';
import { areByMonth, makeMonthsAhead } from '../schema/by-month.js';
import type { Month } from '../values/months.js';
import { listUnfinished, type Unfinished } from './at-rest.js';
import { detachMonth } from './detach-month.js';
import { monthsBefore, nextPartOf, recordPart } from './parts.js';
import { payablesMadeIn, rowsMadeIn } from './read-month.js';
import { removeWritten } from './remove-month.js';
import { type Part, rowsIn, writePart } from './write-part.js';

/**
 * Months leave the tables for files: each is written, read back, and only then removed, so that a row is in the one place or
 * in both. Where tables are kept by month, the month's own are detached, all at once; elsewhere rows are deleted, as many as
 * still are what was written. Whoever is cut short is run again: what is left of the month is its next part.
 */
export interface ArchiveRun {
  before: Month;
  folder: string;
  /** When the part is whole, and before anything is removed. */
  onWritten(part: Part): Promise<void>;
}

export interface ArchivedMonth {
  part: Part;
  /** Rows that are in the tables no more, and those that were changed since they were written. */
  removed: number;
  left: number;
  /** What they are called now that hold the rows. */
  detached: string[];
  lockedMs: number;
}

export interface KeptMonth {
  month: Month;
  holds: Unfinished[];
}

export interface Archived {
  archived: ArchivedMonth[];
  kept: KeptMonth[];
}

export async function archiveMonths(db: Knex, run: ArchiveRun): Promise<Archived> {
  const done: Archived = { archived: [], kept: [] };
  const byMonth = await areByMonth(db);
  for (const month of await monthsBefore(db, run.before)) {
    const holds = await listUnfinished(db, month);
    if (holds.length > 0) {
      done.kept.push({ month, holds });
      continue;
    }
    const batches = byMonth ? rowsMadeIn(db, month) : payablesMadeIn(db, month);
    const part = await writePart(run.folder, { month, part: await nextPartOf(db, month) }, batches);
    if (part.files.length === 0) continue;
    await run.onWritten(part);
    if (byMonth) await detachWritten(db, part, done);
    else done.archived.push(await deleteWritten(db, run.folder, part));
  }
  return done;
}

async function detachWritten(db: Knex, part: Part, { archived, kept }: Archived): Promise<void> {
  // What was made before the first month, or without workers, lies between the months.
  await makeMonthsAhead(db, { from: part.month, ahead: 0 });
  const detachment = await detachMonth(db, part);
  if (detachment.kind === 'kept') {
    kept.push({ month: part.month, holds: detachment.holds });
    return;
  }
  const { tables: detached, lockedMs } = detachment;
  archived.push({ part, removed: rowsIn(part), left: 0, detached, lockedMs });
}

async function deleteWritten(db: Knex, folder: string, part: Part): Promise<ArchivedMonth> {
  await recordPart(db, part);
  const removed = await removeWritten(db, folder, part);
  return { part, removed, left: rowsIn(part) - removed, detached: [], lockedMs: 0 };
}
