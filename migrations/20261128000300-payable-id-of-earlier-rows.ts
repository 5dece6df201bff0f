import type { Knex } from 'knex';

/** Batches outside a transaction keep row locks short. An interrupted run can be repeated. */
export const config = { transaction: false };

const BATCH_ROWS = 2000;
/** Tables with the key that orders the batches. */
const KEYS = { payments: 'id', events: 'id', payment_marks: 'payment_id' };

export async function up(knex: Knex): Promise<void> {
  for (const [table, key] of Object.entries(KEYS)) {
    let last: string | null = '';
    while (last !== null) last = await fillBatch(knex, table, key, last);
  }
}

/** Returns the last key of the batch, or null when no row is left. */
async function fillBatch(knex: Knex, table: string, key: string, after: string): Promise<string | null> {
  const { rows } = await knex.raw<{ rows: { last: string | null }[] }>(
    `WITH batch AS (
      SELECT ${key} AS key FROM ${table} WHERE ${key} > ? ORDER BY ${key} LIMIT ${BATCH_ROWS}
    ), filled AS (
      UPDATE ${table} SET payable_id = checkout_session_id
      WHERE ${key} IN (SELECT key FROM batch) AND payable_id IS NULL
    )
    SELECT max(key) AS last FROM batch`,
    [after],
  );
  return rows[0]?.last ?? null;
}

/** The previous migration drops the column. */
export async function down(): Promise<void> {}
