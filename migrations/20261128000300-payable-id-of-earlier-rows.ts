import type { Knex } from 'knex';

/** In batches outside a transaction, so that each row's lock lasts for a batch only; may be run again after a stop. */
export const config = { transaction: false };

const BATCH_ROWS = 2000;
/** The table and its key, by which the batches go through it. */
const KEYS = { payments: 'id', events: 'id', payment_marks: 'payment_id' };

export async function up(knex: Knex): Promise<void> {
  for (const [table, key] of Object.entries(KEYS)) {
    let last: string | null = '';
    while (last !== null) last = await fillBatch(knex, table, key, last);
  }
}

/** The last key of the batch; null when no row is left. */
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

/** The column itself goes with the migration before. */
export async function down(): Promise<void> {}
