import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { DISTRUST_UNDECIDED } from './statements/reconcile-restore.sql.js';

export interface Distrusted {
  id: string;
  sessionId: string;
}

/**
 * After Postgres was restored from a backup: it may say "not asked yet" of a payment that was settled since, or whose call
 * is still on its way. The chain decides those whose outcome is open.
 */
export async function reconcileRestore(db: Knex): Promise<Distrusted[]> {
  return await runStatement<Distrusted>(db, DISTRUST_UNDECIDED, []);
}
