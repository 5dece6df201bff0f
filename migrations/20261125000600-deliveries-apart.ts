import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

export const config = { transaction: false };

/** Indexes the quarantined deliveries. */
export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'webhook_deliveries_apart',
    on: 'webhook_deliveries (lost_takes, due_at) WHERE lost_takes >= 2 AND due_at IS NOT NULL',
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropIndexConcurrently(knex, 'webhook_deliveries_apart');
}
