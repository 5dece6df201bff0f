import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

/** The index serves lists by wallet. The facilitator may send a payer of any length, which an index could not hold. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'payments_by_payer',
    on: "payments (account_id, livemode, lower(left(payer, 128)), id) WHERE status = 'succeeded'",
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropIndexConcurrently(knex, 'payments_by_payer');
}
