import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { now } from '../process/clock.js';
import { BACKLOG } from './statements/backlog.sql.js';

/** What waits to be done, over all processes; every count is over rows that are under way, by a partial index. */
export interface Backlog {
  paymentsProcessing: number;
  oldestPaymentSeconds: number;
  deliveriesDue: number;
  oldestDeliverySeconds: number;
  sessionsOverdue: number;
  quarantinedWork: number;
}

export async function readBacklog(db: Knex): Promise<Backlog> {
  const [backlog] = await runStatement<Backlog>(db, BACKLOG, [now()]);
  if (backlog === undefined) throw new Error('Postgres has counted nothing');
  return backlog;
}
