import { now } from '../../clock.js';
import type { Knex } from '../../db/knex.js';
import { runStatement, type Statement } from '../../db/statement.js';

/** What waits to be done, over all processes; every count is over rows that are under way, by a partial index. */
export interface Backlog {
  paymentsProcessing: number;
  oldestPaymentSeconds: number;
  deliveriesDue: number;
  oldestDeliverySeconds: number;
  sessionsOverdue: number;
}

export async function readBacklog(db: Knex): Promise<Backlog> {
  const [backlog] = await runStatement<Backlog>(db, BACKLOG, [now()]);
  if (backlog === undefined) throw new Error('Postgres has counted nothing');
  return backlog;
}

const BACKLOG: Statement = {
  name: 'backlog',
  text: `
  SELECT payments.*, deliveries.*, sessions.* FROM (
    SELECT count(*)::int AS "paymentsProcessing",
      coalesce(extract(epoch FROM $1::timestamptz - min(claimed_at)), 0)::float AS "oldestPaymentSeconds"
    FROM payments WHERE status = 'processing'
  ) payments, (
    SELECT count(*)::int AS "deliveriesDue",
      coalesce(extract(epoch FROM $1::timestamptz - min(due_at)), 0)::float AS "oldestDeliverySeconds"
    FROM webhook_deliveries WHERE due_at <= $1
  ) deliveries, (
    SELECT count(*)::int AS "sessionsOverdue"
    FROM checkout_sessions WHERE status = 'open' AND expires_at <= $1
  ) sessions`,
};
