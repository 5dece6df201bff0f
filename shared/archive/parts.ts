import type { Knex } from '../db/knex.js';
import { violatesUnique } from '../db/postgres-errors.js';
import { runStatement } from '../db/statement.js';
import { Refusal } from '../errors/refusal.js';
import { type Month, monthOf, monthsAfter } from '../values/months.js';
import { FIRST_IDS, LAST_PART, MANIFEST_OF_PART, RECORD_PART } from './statements/parts.sql.js';
import type { Part } from './write-part.js';

/** Refuses a part that another run has recorded since this one began: its files hold rows that are deleted by now. */
export async function recordPart(db: Knex, part: Part): Promise<void> {
  try {
    await runStatement(db, RECORD_PART, [part.month, part.part, part.written_at, JSON.stringify(part)]);
  } catch (error) {
    if (!violatesUnique(error, 'archived_parts_pkey')) throw error;
    throw new Refusal(
      'parameter_invalid',
      `Another archive command has written part ${part.part} of ${part.month} meanwhile. This one wrote and removed nothing of that month: run it again when the other has ended.`,
    );
  }
}

/** Undefined when this database has no such part written. */
export async function findPart(
  db: Knex,
  { month, part }: Pick<Part, 'month' | 'part'>,
): Promise<Part | undefined> {
  const [found] = await runStatement<{ manifest: Part }>(db, MANIFEST_OF_PART, [month, part]);
  return found?.manifest;
}

export async function nextPartOf(db: Knex, month: Month): Promise<number> {
  const [last] = await runStatement<{ part: number }>(db, LAST_PART, [month]);
  return (last?.part ?? 0) + 1;
}

/** Oldest first. */
export async function monthsBefore(db: Knex, before: Month): Promise<Month[]> {
  const found = await runStatement<{ id: string }>(db, FIRST_IDS, []);
  const [oldest] = found.map(({ id }) => monthOf(id)).sort();
  const months: Month[] = [];
  for (let month = oldest ?? before; month < before; month = monthsAfter(month, 1)) months.push(month);
  return months;
}
