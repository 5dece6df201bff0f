import { now } from '../../clock.js';
import type { Knex } from '../../db/knex.js';

/** What waits to be done, over all processes; every count is over rows that are under way, by a partial index. */
export interface Backlog {
  paymentsProcessing: number;
  oldestPaymentSeconds: number;
  deliveriesDue: number;
  oldestDeliverySeconds: number;
  sessionsOverdue: number;
}

export async function readBacklog(db: Knex): Promise<Backlog> {
  const { rows } = await db.raw<{ rows: [Backlog] }>(BACKLOG, { at: now() });
  return rows[0];
}

const BACKLOG = `
  SELECT payments.*, deliveries.*, sessions.* FROM (
    SELECT count(*)::int AS "paymentsProcessing",
      coalesce(extract(epoch FROM CAST(:at AS timestamptz) - min(claimed_at)), 0)::float AS "oldestPaymentSeconds"
    FROM payments WHERE status = 'processing'
  ) payments, (
    SELECT count(*)::int AS "deliveriesDue",
      coalesce(extract(epoch FROM CAST(:at AS timestamptz) - min(due_at)), 0)::float AS "oldestDeliverySeconds"
    FROM webhook_deliveries WHERE due_at <= :at
  ) deliveries, (
    SELECT count(*)::int AS "sessionsOverdue"
    FROM checkout_sessions WHERE status = 'open' AND expires_at <= :at
  ) sessions`;
