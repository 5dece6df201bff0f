import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

/** The index serves the list of sessions of one buyer. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'payables_by_customer_email',
    on: 'payables (account_id, livemode, customer_email, id) WHERE customer_email IS NOT NULL',
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropIndexConcurrently(knex, 'payables_by_customer_email');
}
