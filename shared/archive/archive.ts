import type { Knex } from '../db/knex.js';
import type { Month } from '../values/months.js';
import { listUnfinished, type Unfinished } from './at-rest.js';
import { monthsBefore, nextPartOf, recordPart } from './parts.js';
import { payablesMadeIn } from './read-month.js';
import { removeWritten } from './remove-month.js';
import { type Part, rowsIn, writePart } from './write-part.js';

/**
 * Moves months from the tables into files. Each month is written, read back, and only then deleted, so every row is in the
 * tables, in the files or in both. A row that changed since it was written stays in the tables. After a crash the
 * operator runs the command again: the remaining rows of the month become its next part.
 */
export interface ArchiveRun {
  before: Month;
  folder: string;
  /** Called when the part's files are complete, before its rows are deleted. */
  onWritten(part: Part): Promise<void>;
}

export interface ArchivedMonth {
  part: Part;
  removed: number;
  /** Rows that changed since they were written. */
  left: number;
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
  for (const month of await monthsBefore(db, run.before)) {
    const holds = await listUnfinished(db, month);
    if (holds.length > 0) {
      done.kept.push({ month, holds });
      continue;
    }
    const next = { month, part: await nextPartOf(db, month) };
    const part = await writePart(run.folder, next, payablesMadeIn(db, month));
    if (part.files.length === 0) continue;
    await run.onWritten(part);
    done.archived.push(await deleteWritten(db, run.folder, part));
  }
  return done;
}

async function deleteWritten(db: Knex, folder: string, part: Part): Promise<ArchivedMonth> {
  await recordPart(db, part);
  const removed = await removeWritten(db, folder, part);
  return { part, removed, left: rowsIn(part) - removed };
}
