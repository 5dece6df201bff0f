import type { Statement } from '../../db/statement.js';

export const REMOVE_RECORDS: Statement = {
  name: undefined,
  text: `
    WITH removed AS (
      DELETE FROM idempotency_records WHERE ctid IN (
        SELECT ctid FROM idempotency_records WHERE created_at < $1
        ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED
      )
      RETURNING 1
    )
    SELECT count(*)::int FROM removed`,
};

export const REMOVE_ANSWERS: Statement = {
  name: undefined,
  text: `
    WITH removed AS (
      UPDATE webhook_deliveries SET answers_removed = true, history = (
        SELECT coalesce(jsonb_agg(jsonb_set(entry, '{answer}', 'null')), '[]') FROM jsonb_array_elements(history) entry)
      -- An array: however many the planner expects, it looks them up one by one.
      WHERE id = ANY (ARRAY(
        SELECT id FROM webhook_deliveries
        WHERE id < $1 AND status <> 'pending' AND NOT answers_removed
        ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
      ))
      RETURNING 1
    )
    SELECT count(*)::int FROM removed`,
};
