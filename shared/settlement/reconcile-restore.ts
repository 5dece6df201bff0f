import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { DISTRUST_UNDECIDED } from './statements/reconcile-restore.sql.js';

interface Distrusted {
  id: string;
  sessionId: string;
}

/**
 * A Postgres that was restored from a backup may have "not asked yet" for a payment that was settled after the backup, or
 * whose `/settle` call is still in flight. This leaves every undecided payment to the chain.
 */
export async function reconcileRestore(db: Knex): Promise<Distrusted[]> {
  return await runStatement<Distrusted>(db, DISTRUST_UNDECIDED, []);
}
