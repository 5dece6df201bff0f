import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Knex } from '../db/knex.js';
import { isRefusal } from '../db/postgres-errors.js';
import { Refusal } from '../errors/refusal.js';
import type { Month } from '../values/months.js';
import { listUnfinished, type Unfinished } from './at-rest.js';
import { monthsBefore, nextPartOf, recordPart } from './parts.js';
import { publishRecorded } from './publish-recorded.js';
import { payablesMadeIn } from './read-month.js';
import { type Removed, removeWritten } from './remove-month.js';
import { type Part, publishPart, refuseTaken, writePart } from './write-part.js';

/**
 * Moves months from the tables into files. Each month is written, read back, and only then deleted, so every row is in the
 * tables, in the files or in both. A row that changed since it was written stays in the tables. After a crash the
 * operator runs the command again: it publishes a part that is recorded, and the remaining rows of the month become the next
 * part. Of two runs that write the same part one records it, and only its files get their names.
 */
export interface ArchiveRun {
  before: Month;
  folder: string;
  /** Called when the part's files are complete, in `written`, before its rows are deleted. */
  onWritten(part: Part, written: string): Promise<void>;
}

export interface ArchivedMonth extends Removed {
  part: Part;
}

export interface KeptMonth {
  month: Month;
  holds: Unfinished[];
}

export interface Archived {
  archived: ArchivedMonth[];
  kept: KeptMonth[];
}

interface Copied {
  written: Part[];
  kept: KeptMonth[];
}

export async function archiveMonths(db: Knex, run: ArchiveRun): Promise<Archived> {
  const done: Archived = { archived: [], kept: [] };
  for await (const part of writeMonths(db, run, done.kept))
    done.archived.push({ part, ...(await removeWritten(db, run.folder, part)) });
  return done;
}

/** Deletes nothing. For a pipe, whose writer never learns whether its reader has stored anything. */
export async function copyMonths(db: Knex, run: ArchiveRun): Promise<Copied> {
  const done: Copied = { written: [], kept: [] };
  for await (const part of writeMonths(db, run, done.kept)) done.written.push(part);
  return done;
}

/** Yields each part once it is recorded. Adds the months with unfinished rows to `kept`. */
async function* writeMonths(
  db: Knex,
  { before, ...run }: ArchiveRun,
  kept: KeptMonth[],
): AsyncGenerator<Part> {
  for (const month of await monthsBefore(db, before)) {
    const holds = await listUnfinished(db, month);
    if (holds.length > 0) {
      kept.push({ month, holds });
      continue;
    }
    yield* publishRecorded(db, month, run.folder);
    const part = await writeNextPart(db, month, run);
    if (part !== undefined) yield part;
  }
}

/** Undefined when the month has no rows. A part that may be recorded keeps its files, which the next command publishes. */
async function writeNextPart(
  db: Knex,
  month: Month,
  { folder, onWritten }: Omit<ArchiveRun, 'before'>,
): Promise<Part | undefined> {
  const next = { month, part: await nextPartOf(db, month) };
  await refuseTaken(folder, next);
  const unfinished = path.join(folder, `${month}-${randomBytes(8).toString('hex')}.unfinished`);
  const discard = (): Promise<void> => rm(unfinished, { recursive: true, force: true });
  let mayBeRecorded = false;
  try {
    const part = await writePart(unfinished, next, payablesMadeIn(db, month));
    if (part.files.length === 0) return undefined;
    await onWritten(part, unfinished);
    mayBeRecorded = true;
    await recordPart(db, part);
    await publishPart(part, unfinished, folder);
    await discard();
    return part;
  } catch (error) {
    if (!mayBeRecorded || error instanceof Refusal || isRefusal(error)) await discard();
    throw error;
  }
}
