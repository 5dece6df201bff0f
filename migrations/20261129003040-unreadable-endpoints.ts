import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

/** The index serves the metric, and the workers that look for endpoints whose secret they can open again. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'webhook_endpoints_unreadable',
    on: 'webhook_endpoints (unreadable_since) WHERE unreadable_since IS NOT NULL AND deleted_at IS NULL',
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropIndexConcurrently(knex, 'webhook_endpoints_unreadable');
}
