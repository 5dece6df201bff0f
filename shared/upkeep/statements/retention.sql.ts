import type { Statement } from '../../db/statement.js';

/** Of rows with `bytes`, in their order, those that fit into $3, and one in any case. */
export const fits = (column: string, rows: string): string => `
  SELECT ${column} FROM (
    SELECT ${column}, sum(bytes) OVER (ROWS UNBOUNDED PRECEDING) - bytes AS before FROM (${rows}) row
  ) weighed
  WHERE before < $3`;

/** Removing a row costs as much as is stored of it; nothing is unpacked for that. */
export const REMOVE_RECORDS: Statement = {
  name: undefined,
  text: `
    WITH removed AS (
      DELETE FROM idempotency_records WHERE ctid = ANY (ARRAY(${fits(
        'place',
        `SELECT ctid AS place, pg_column_size(answer) AS bytes FROM idempotency_records WHERE created_at < $1
         ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED`,
      )}))
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
      WHERE id = ANY (ARRAY(${fits(
        'id',
        `SELECT id, pg_column_size(history) AS bytes FROM webhook_deliveries
         WHERE id < $1 AND status <> 'pending' AND NOT answers_removed
         ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED`,
      )}))
      RETURNING 1
    )
    SELECT count(*)::int FROM removed`,
};
