import { hiddenFromPlanner } from '../../db/planner-hints.js';
import type { Statement } from '../../db/statement.js';
import { historyWith, TRY_ENDED } from './take-due.sql.js';

/**
 * The time of the next try after a try with this entry. A delivery whose endpoint was enabled during the try is due at once:
 * the sweep that makes the endpoint's deliveries due leaves out those in flight.
 */
const nextTryAt = (entry: string, planned: string, now: string): string => `
    CASE WHEN EXISTS (
      SELECT FROM webhook_endpoints
      WHERE id = delivery.endpoint_id AND enabled_at > (${entry} ->> 'at')::timestamptz
    ) THEN ${now}::timestamptz ELSE ${planned}::timestamptz END`;

export const POSTPONE: Statement = {
  name: 'postpone-delivery',
  text: `
  UPDATE webhook_deliveries delivery
  SET due_at = ${nextTryAt('$4::jsonb', '$3', '$5')}, ${TRY_ENDED}, history = ${historyWith('$4::jsonb')}
  WHERE id = $1 AND attempt = $2 AND status = 'pending' RETURNING due_at AS "dueAt"`,
};

export const POSTPONE_BATCH: Statement = {
  name: 'postpone-deliveries',
  text: `
  WITH ended AS (
    SELECT delivery.id, failure.due_at, failure.entry
    FROM unnest(${hiddenFromPlanner('$1::text[]')}, ${hiddenFromPlanner('$2::int[]')}, ${hiddenFromPlanner('$3::timestamptz[]')}, ${hiddenFromPlanner('$4::jsonb[]')})
      AS failure (id, attempt, due_at, entry)
    CROSS JOIN LATERAL (
      -- A leased delivery is pending. With a condition on the status, the planner scans all pending deliveries.
      SELECT id FROM webhook_deliveries
      WHERE id = failure.id AND attempt = failure.attempt AND leased_until >= ${hiddenFromPlanner("'-infinity'::timestamptz")}
      FOR NO KEY UPDATE SKIP LOCKED
    ) delivery
  )
  UPDATE webhook_deliveries delivery
  SET due_at = ${nextTryAt('ended.entry', 'ended.due_at', '$5')}, ${TRY_ENDED}, history = ${historyWith('ended.entry')}
  FROM ended WHERE delivery.id = ended.id RETURNING delivery.id, delivery.due_at AS "dueAt"`,
};
