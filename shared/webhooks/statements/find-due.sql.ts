import type { Statement } from '../../db/statement.js';
import { IS_QUARANTINED, NOT_QUARANTINED } from '../../upkeep/statements/work-in-flight.sql.js';
import { takesDeliveries } from './take-due.sql.js';

const EARLIEST_OF_NEXT_ENDPOINT = (after: string): string => `
  SELECT endpoint_id, due_at FROM webhook_deliveries
  WHERE due_at IS NOT NULL AND ${NOT_QUARANTINED} AND endpoint_id > ${after} ORDER BY endpoint_id, due_at LIMIT 1`;

/**
 * Visits at most $2 endpoints after $1. Returns the accounts of enabled endpoints with deliveries due at $3, and the deleted
 * endpoints with such deliveries. An account is late when a delivery was due at $4 and its endpoint has no delivery in
 * flight: a delivery in flight passes its slot on.
 */
export const STEP_FROM_ENDPOINT_TO_ENDPOINT: Statement = {
  name: 'step-from-endpoint-to-endpoint-and-late',
  text: `
  WITH RECURSIVE step AS (
    (${EARLIEST_OF_NEXT_ENDPOINT('$1::text')})
    UNION ALL
    SELECT next.* FROM step, LATERAL (${EARLIEST_OF_NEXT_ENDPOINT('step.endpoint_id')}) next
  ), seen AS MATERIALIZED (
    SELECT endpoint_id, due_at FROM step LIMIT $2
  ), due AS MATERIALIZED (
    SELECT endpoint.*, seen.due_at <= $4 AS was_due FROM seen CROSS JOIN LATERAL (
      -- OFFSET 0 makes Postgres look up each endpoint by its id, here and below.
      SELECT id, account_id, status, deleted_at, unreadable_since FROM webhook_endpoints WHERE id = seen.endpoint_id OFFSET 0
    ) endpoint
    WHERE seen.due_at <= $3
  )
  SELECT (SELECT count(*)::int FROM seen) AS seen, (SELECT max(endpoint_id) FROM seen) AS last,
    ARRAY(SELECT DISTINCT account_id FROM due WHERE ${takesDeliveries('due')}) AS accounts,
    ARRAY(
      SELECT DISTINCT account_id FROM due WHERE ${takesDeliveries('due')} AND was_due AND NOT EXISTS (
        SELECT FROM webhook_deliveries WHERE endpoint_id = due.id AND leased_until > $3 OFFSET 0
      )
    ) AS late,
    ARRAY(SELECT id FROM due WHERE deleted_at IS NOT NULL) AS deleted`,
};

/** Deliveries with the fewest crashes come first. Held deliveries are left out. */
export const DUE_QUARANTINED: Statement = {
  name: 'due-quarantined-deliveries',
  text: `
  SELECT id, lost_takes AS crashes FROM webhook_deliveries delivery
  WHERE ${IS_QUARANTINED} AND due_at IS NOT NULL AND due_at <= $1 AND EXISTS (
    SELECT FROM webhook_endpoints endpoint WHERE id = delivery.endpoint_id AND ${takesDeliveries('endpoint')}
  )
  ORDER BY lost_takes, due_at LIMIT $2`,
};
