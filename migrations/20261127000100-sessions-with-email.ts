import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

export const config = { transaction: false };

/** Sessions that are over and still name a buyer: what the clean-up looks for, however many there have been. */
export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'payables_with_email',
    on: "payables (expires_at) WHERE customer_email IS NOT NULL AND status IN ('complete', 'expired')",
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropIndexConcurrently(knex, 'payables_with_email');
}
