import { forgottenBefore } from '../accounts/idempotency.js';
import type { Knex } from '../db/knex.js';
import { runStatement, type Statement } from '../db/statement.js';
import { MAX_REMOVED_BATCH_BYTES } from '../limits/bounds.js';
import { certainNow } from '../process/clock.js';
import { lowestIdAt } from '../values/ids.js';
import { REMOVE_ANSWERS, REMOVE_RECORDS } from './statements/retention.sql.js';

/**
 * Removes data after its retention period. Sessions, payments and events stay; checkout-sessions/erase.ts removes personal data
 * from them. While Postgres' clock and the host's disagree, the period must be over by both. Workers may run this at the same
 * time: SKIP LOCKED gives them different rows.
 */
const DELIVERY_ANSWERS_KEPT_MS = 30 * 24 * 3_600_000;

/** Removes at most `limit` records and returns how many. */
export async function removeExpiredIdempotencyRecords(db: Knex, limit: number): Promise<number> {
  return await countRows(db, REMOVE_RECORDS, [forgottenBefore(), limit, MAX_REMOVED_BATCH_BYTES]);
}

/** Removes receivers' answers from at most `limit` finished deliveries; the time and outcome of each try stay. */
export async function removeDeliveryAnswers(db: Knex, limit: number): Promise<number> {
  const below = lowestIdAt('wd_', certainNow().getTime() - DELIVERY_ANSWERS_KEPT_MS);
  return await countRows(db, REMOVE_ANSWERS, [below, limit, MAX_REMOVED_BATCH_BYTES]);
}

async function countRows(db: Knex, statement: Statement, values: readonly unknown[]): Promise<number> {
  const [row] = await runStatement<{ count: number }>(db, statement, values);
  return row?.count ?? 0;
}
