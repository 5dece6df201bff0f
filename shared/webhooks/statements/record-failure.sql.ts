import { hiddenFromPlanner } from '../../db/planner.js';
import type { Statement } from '../../db/statement.js';
import { TRY_ENDED } from './take-due.sql.js';

export const POSTPONE: Statement = {
  name: 'postpone-delivery',
  text: `
  UPDATE webhook_deliveries SET due_at = $3, ${TRY_ENDED}, history = history || $4::jsonb
  WHERE id = $1 AND attempt = $2 AND status = 'pending' RETURNING id`,
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
  UPDATE webhook_deliveries delivery SET due_at = ended.due_at, ${TRY_ENDED}, history = history || ended.entry
  FROM ended WHERE delivery.id = ended.id RETURNING delivery.id`,
};
