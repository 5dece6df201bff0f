import { KEPT_FOR_MS } from '../accounts/idempotency.js';
import type { Knex } from '../db/knex.js';
import { runStatement, type Statement } from '../db/statement.js';
import { MAX_REMOVED_BATCH_BYTES } from '../limits/bounds.js';
import { nowMs } from '../process/clock.js';
import { lowestIdAt } from '../values/ids.js';
import { REMOVE_ANSWERS, REMOVE_RECORDS } from './statements/retention.sql.js';

/**
 * What is kept for a while only. Sessions, payments and events stay; what names a buyer is taken out of them elsewhere
 * (checkout-sessions/erase.ts). Workers that clean up at once take different rows.
 */
const DELIVERY_ANSWERS_KEPT_MS = 30 * 24 * 3_600_000;

/** How many idempotency records were removed, at most `limit`. */
export async function removeExpiredIdempotencyRecords(db: Knex, limit: number): Promise<number> {
  return await countRows(db, REMOVE_RECORDS, [
    new Date(nowMs() - KEPT_FOR_MS),
    limit,
    MAX_REMOVED_BATCH_BYTES,
  ]);
}

/** Of how many finished deliveries the receivers' answers were removed; when and how each try ended stays. */
export async function removeDeliveryAnswers(db: Knex, limit: number): Promise<number> {
  const below = lowestIdAt('wd_', nowMs() - DELIVERY_ANSWERS_KEPT_MS);
  return await countRows(db, REMOVE_ANSWERS, [below, limit, MAX_REMOVED_BATCH_BYTES]);
}

async function countRows(db: Knex, statement: Statement, values: readonly unknown[]): Promise<number> {
  const [row] = await runStatement<{ count: number }>(db, statement, values);
  return row?.count ?? 0;
}
