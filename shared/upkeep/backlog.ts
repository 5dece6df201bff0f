import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { now } from '../process/clock.js';
import { BACKLOG } from './statements/backlog.sql.js';

/** Due and unfinished work of all processes, and the space of all rows. Partial indexes keep the counts cheap. */
export interface Backlog {
  paymentsProcessing: number;
  oldestPaymentSeconds: number;
  deliveriesDue: number;
  oldestDeliverySeconds: number;
  sessionsOverdue: number;
  quarantinedWork: number;
  unreadableEndpoints: number;
  databaseBytes: number;
}

export async function readBacklog(db: Knex): Promise<Backlog> {
  const [backlog] = await runStatement<Backlog>(db, BACKLOG, [now()]);
  if (backlog === undefined) throw new Error('the backlog statement returned no row');
  return backlog;
}
