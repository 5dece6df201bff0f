import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { ANY_ENTRY, FOLD, TRY_LOCK } from './statements/totals.sql.js';

/** Returns the number of entries; 0 also when another process folds or rebuilds at the moment. */
export async function foldEntries(db: Knex, limit: number): Promise<number> {
  if ((await runStatement(db, ANY_ENTRY, [])).length === 0) return 0;
  return await db.transaction(async (trx) => {
    if (!(await tryFoldLock(trx))) return 0;
    // A statement of its own: its snapshot begins under the lock.
    const [folded] = await runStatement<{ count: number }>(trx, FOLD, [limit]);
    return folded?.count ?? 0;
  });
}

export async function tryFoldLock(trx: Knex.Transaction): Promise<boolean> {
  const [lock] = await runStatement<{ taken: boolean }>(trx, TRY_LOCK, []);
  return lock?.taken === true;
}
