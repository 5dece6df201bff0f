import { hiddenFromPlanner } from '../../db/planner-hints.js';
import type { Statement } from '../../db/statement.js';

/** Drops at most $2 pending deliveries of the deleted endpoint $1. */
export const DROP_SOME: Statement = {
  name: 'drop-some-deliveries',
  text: `
  WITH oldest AS (
    SELECT id FROM webhook_deliveries WHERE endpoint_id = $1 AND status = 'pending' ORDER BY id LIMIT $2 FOR NO KEY UPDATE
  )
  UPDATE webhook_deliveries SET status = $4, due_at = NULL, leased_until = NULL
  WHERE id = ANY (ARRAY(SELECT id FROM oldest)) AND status = ANY ($3)`,
};

/** A sweep of the deleted endpoints $1 begins at the delivery id $2, unless one is under way. */
export const MARK_FOR_SWEEP: Statement = {
  name: 'sweep-deleted-endpoints',
  text: `
  UPDATE webhook_endpoints SET swept_to = $2
  WHERE id = ANY ($1) AND deleted_at IS NOT NULL AND swept_to IS NULL`,
};

/** Finds at most $2 endpoints of each of $1 accounts. The accounts are chosen at random, so that none delays the others. */
export const ENDPOINTS_TO_SWEEP: Statement = {
  name: 'endpoints-to-sweep',
  text: `
  SELECT array_agg(id) AS endpoints FROM (
    SELECT id, account_id, row_number() OVER (PARTITION BY account_id ORDER BY id) AS number
    FROM webhook_endpoints WHERE swept_to IS NOT NULL
  ) numbered
  WHERE number <= $2 GROUP BY account_id ORDER BY random() LIMIT $1`,
};

const LAST_TRY_AT = `(history -> -1 ->> 'at')::timestamptz`;

/**
 * The next $2 pending deliveries of the endpoint $1, at time $3. The endpoint's row is locked before its deliveries. A try
 * that began after the endpoint was enabled has set a due time that stays. A try in the future was before Postgres' clock was
 * set back, and may have begun before the endpoint was enabled.
 */
export const SWEEP_ENDPOINT: Statement = {
  name: 'sweep-endpoint',
  text: `
  WITH endpoint AS MATERIALIZED (
    SELECT id, swept_to, enabled_at, deleted_at IS NOT NULL AS is_deleted, deleted_at IS NULL AND status = 'enabled' AS is_enabled
    FROM webhook_endpoints WHERE id = $1 AND swept_to IS NOT NULL FOR NO KEY UPDATE SKIP LOCKED
  ), batch AS MATERIALIZED (
    SELECT delivery.id FROM endpoint CROSS JOIN LATERAL (
      SELECT id FROM webhook_deliveries
      WHERE endpoint_id = endpoint.id AND status = 'pending' AND id > endpoint.swept_to
      ORDER BY id LIMIT ${hiddenFromPlanner('$2::int')}
    ) delivery
  ), released AS (
    UPDATE webhook_deliveries SET due_at = $3
    WHERE id = ANY (ARRAY(SELECT batch.id FROM batch, endpoint WHERE endpoint.is_enabled)) AND status = ANY ($4)
      AND (due_at IS NULL OR due_at > $3) AND (leased_until IS NULL OR leased_until <= $3)
      AND coalesce(${LAST_TRY_AT} < (SELECT enabled_at FROM endpoint) OR ${LAST_TRY_AT} > $3, true)
  ), dropped AS (
    UPDATE webhook_deliveries SET status = $5, due_at = NULL, leased_until = NULL
    WHERE id = ANY (ARRAY(SELECT batch.id FROM batch, endpoint WHERE endpoint.is_deleted)) AND status = ANY ($4)
  )
  UPDATE webhook_endpoints SET swept_to = CASE
    WHEN (is_enabled OR is_deleted) AND (SELECT count(*) FROM batch) = $2 THEN (SELECT max(id) FROM batch) END
  FROM endpoint WHERE webhook_endpoints.id = endpoint.id
  RETURNING (SELECT count(*)::int FROM batch) AS swept`,
};
