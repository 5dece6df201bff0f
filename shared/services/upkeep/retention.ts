import { nowMs } from '../../clock.js';
import type { Knex } from '../../db/knex.js';
import { runStatement, type Statement } from '../../db/statement.js';
import { lowestIdAt } from '../../ids.js';
import { KEPT_FOR_MS } from '../access/idempotency.js';

/**
 * What is kept for a while only. Sessions, payments and events stay. Workers that clean up at once take different rows.
 */
const DELIVERY_ANSWERS_KEPT_MS = 30 * 24 * 3_600_000;

/** How many idempotency records were removed, at most `limit`. */
export async function removeExpiredIdempotencyRecords(db: Knex, limit: number): Promise<number> {
  return await countRows(db, REMOVE_RECORDS, [new Date(nowMs() - KEPT_FOR_MS), limit]);
}

/** Of how many finished deliveries the receivers' answers were removed; when and how each try ended stays. */
export async function removeDeliveryAnswers(db: Knex, limit: number): Promise<number> {
  const below = lowestIdAt('wd_', nowMs() - DELIVERY_ANSWERS_KEPT_MS);
  return await countRows(db, REMOVE_ANSWERS, [below, limit]);
}

async function countRows(db: Knex, statement: Statement, values: readonly unknown[]): Promise<number> {
  const [row] = await runStatement<{ count: number }>(db, statement, values);
  return row?.count ?? 0;
}

const REMOVE_RECORDS: Statement = {
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

const REMOVE_ANSWERS: Statement = {
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
