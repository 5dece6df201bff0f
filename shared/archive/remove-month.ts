import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { GROWING_TABLES } from '../values/months.js';
import { rowsIn } from './archive-file.js';
import { inUtc } from './read-month.js';
import { lockAll, removeOf } from './statements/rows.sql.js';
import { type Part, pathOf } from './write-part.js';

const BATCH = 200;

export interface Removed {
  removed: number;
  /** Rows that changed since they were written, or that such a row needs. */
  left: number;
}

/**
 * Deletes the rows of the part's files whose text is unchanged, in small batches so that locks are short. Rows
 * that were deleted before are in neither number.
 */
export async function removeWritten(db: Knex, folder: string, part: Part): Promise<Removed> {
  const sum: Removed = { removed: 0, left: 0 };
  // The tables go in reverse: rows are deleted before the rows that they refer to.
  for (const table of GROWING_TABLES.toReversed()) {
    for await (const rows of rowsIn(pathOf(folder, part, table), BATCH)) {
      const [some] = await db.transaction(async (trx) => {
        await inUtc(trx);
        const ids = rows.map(({ id }) => id);
        // The lock is a statement of its own, so that the next statement's snapshot has every change that was made before
        // it.
        await runStatement(trx, lockAll(table), [ids]);
        return await runStatement<Removed>(trx, removeOf(table), [ids, rows.map(({ line }) => line)]);
      });
      sum.removed += some?.removed ?? 0;
      sum.left += some?.left ?? 0;
    }
  }
  return sum;
}
