import type { Statement } from '../../db/statement.js';
import { QUARANTINE_AFTER_CRASHES } from '../../limits/bounds.js';
import { IS_QUARANTINED } from './work-in-flight.sql.js';

const NOT_HELD = `EXISTS (
  SELECT FROM webhook_endpoints
  WHERE id = delivery.endpoint_id AND status = 'enabled' AND deleted_at IS NULL AND unreadable_since IS NULL
)`;

export const BACKLOG: Statement = {
  name: 'backlog',
  text: `
  SELECT payments.*, deliveries.*, sessions.*, "quarantinedPayments" + "quarantinedSessions" + "quarantinedDeliveries" AS "quarantinedWork",
    "unreadableEndpoints", "databaseBytes"
  FROM (
    SELECT count(*)::int AS "paymentsProcessing",
      round(coalesce(extract(epoch FROM $1::timestamptz - min(claimed_at)), 0))::bigint AS "oldestPaymentSeconds",
      (count(*) FILTER (WHERE ${IS_QUARANTINED}))::int AS "quarantinedPayments"
    FROM payments WHERE status = 'processing'
  ) payments, (
    SELECT count(*)::int AS "deliveriesDue",
      round(coalesce(extract(epoch FROM $1::timestamptz - min(due_at)), 0))::bigint AS "oldestDeliverySeconds"
    FROM webhook_deliveries delivery WHERE due_at <= $1 AND ${NOT_HELD}
  ) deliveries, (
    SELECT count(*)::int AS "sessionsOverdue"
    FROM payables WHERE status = 'open' AND expires_at <= $1
  ) sessions, (
    SELECT count(*)::int AS "quarantinedSessions" FROM crashed_work WHERE deaths >= ${QUARANTINE_AFTER_CRASHES}
  ) crashed, (
    SELECT count(*)::int AS "quarantinedDeliveries"
    FROM webhook_deliveries delivery WHERE ${IS_QUARANTINED} AND due_at IS NOT NULL AND ${NOT_HELD}
  ) quarantined, (
    SELECT count(*)::int AS "unreadableEndpoints"
    FROM webhook_endpoints WHERE unreadable_since IS NOT NULL AND deleted_at IS NULL
  ) unreadable, (
    -- Every role may read the size of its own database's tablespace; the write-ahead log is not in it.
    SELECT pg_tablespace_size(dattablespace) AS "databaseBytes"
    FROM pg_database WHERE datname = current_database()
  ) size`,
};
