import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

/** The index serves lists of payments that are being confirmed, and of failed payments. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'payments_by_status',
    on: "payments (account_id, livemode, status, id) WHERE status <> 'succeeded'",
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropIndexConcurrently(knex, 'payments_by_status');
}
