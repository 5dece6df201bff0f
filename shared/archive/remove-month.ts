import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { GROWING_TABLES } from '../values/months.js';
import { rowsIn } from './archive-file.js';
import { inUtc } from './read-month.js';
import { removeOf } from './statements/rows.sql.js';
import { type Part, pathOf } from './write-part.js';

const BATCH = 200;

/**
 * Deletes the rows of the part's files whose text is unchanged, in small batches so that locks are short. Returns the
 * number of deleted rows.
 */
export async function removeWritten(db: Knex, folder: string, part: Part): Promise<number> {
  let removed = 0;
  // Reversed: rows are deleted before the rows that they refer to.
  for (const table of GROWING_TABLES.toReversed()) {
    for await (const rows of rowsIn(pathOf(folder, part, table), BATCH)) {
      removed += await db.transaction(async (trx) => {
        await inUtc(trx);
        const values = [rows.map(({ id }) => id), rows.map(({ line }) => line)];
        const [answer] = await runStatement<{ count: number }>(trx, removeOf(table), values);
        return answer?.count ?? 0;
      });
    }
  }
  return removed;
}
