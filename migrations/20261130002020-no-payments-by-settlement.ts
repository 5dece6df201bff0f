import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

/** The operator's daily totals are read from `report_totals`. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await dropIndexConcurrently(knex, 'payments_by_settlement');
}

export async function down(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'payments_by_settlement',
    on: "payments (settled_at) WHERE status = 'succeeded'",
  });
}
