import type { Statement } from '../../db/statement.js';

/** The first of `rows` whose `bytes` add up to at most $3, and always at least one. */
export const withinByteBudget = (column: string, rows: string): string => `
  SELECT ${column} FROM (
    SELECT ${column}, sum(bytes) OVER (ROWS UNBOUNDED PRECEDING) - bytes AS before FROM (${rows}) row
  ) summed
  WHERE before < $3`;

/** Sizes are as stored (compressed), since that is the cost of removing a row. */
export const REMOVE_RECORDS: Statement = {
  text: `
    WITH removed AS (
      DELETE FROM idempotency_records WHERE ctid = ANY (ARRAY(${withinByteBudget(
        'row_id',
        `SELECT ctid AS row_id, pg_column_size(answer) AS bytes FROM idempotency_records WHERE created_at < $1
         ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED`,
      )}))
      RETURNING 1
    )
    SELECT count(*)::int FROM removed`,
};

export const REMOVE_ANSWERS: Statement = {
  text: `
    WITH removed AS (
      UPDATE webhook_deliveries SET answers_removed = true, history = (
        SELECT coalesce(jsonb_agg(jsonb_set(entry, '{answer}', 'null')), '[]') FROM jsonb_array_elements(history) entry)
      -- An array makes the planner use the primary key, whatever its row estimate.
      WHERE id = ANY (ARRAY(${withinByteBudget(
        'id',
        `SELECT id, pg_column_size(history) AS bytes FROM webhook_deliveries
         WHERE id < $1 AND status <> 'pending' AND NOT answers_removed
         ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED`,
      )}))
      RETURNING 1
    )
    SELECT count(*)::int FROM removed`,
};
