import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

export const config = { transaction: false };

/** Indexes, for the clean-up, finished sessions that still hold a buyer's e-mail address. */
export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'payables_with_email',
    on: "payables (expires_at) WHERE customer_email IS NOT NULL AND status IN ('complete', 'expired')",
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropIndexConcurrently(knex, 'payables_with_email');
}
