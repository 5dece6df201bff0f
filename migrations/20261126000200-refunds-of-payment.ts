import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

export const config = { transaction: false };

/** Indexes the list of a payment's refunds, and their sum, which leaves out canceled refunds, however many there are. */
export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'payables_of_payment',
    on: 'payables (refunded_payment_id, id) WHERE refunded_payment_id IS NOT NULL',
  });
  await createIndexConcurrently(knex, {
    name: 'payables_giving_back',
    on: `payables (refunded_payment_id)
      WHERE refunded_payment_id IS NOT NULL AND status <> 'expired'`,
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropIndexConcurrently(knex, 'payables_giving_back');
  await dropIndexConcurrently(knex, 'payables_of_payment');
}
