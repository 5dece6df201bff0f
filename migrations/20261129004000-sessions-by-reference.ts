import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

/** The index serves the list of sessions with a merchant's own order id. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'payables_by_client_reference_id',
    on: 'payables (account_id, livemode, client_reference_id, id) WHERE client_reference_id IS NOT NULL',
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropIndexConcurrently(knex, 'payables_by_client_reference_id');
}
