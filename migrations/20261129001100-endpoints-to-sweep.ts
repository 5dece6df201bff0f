import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

export const config = { transaction: false };

/** Endpoints whose deliveries workers still have to make due or to drop. */
export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'webhook_endpoints_to_sweep',
    on: 'webhook_endpoints (id) WHERE swept_to IS NOT NULL',
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropIndexConcurrently(knex, 'webhook_endpoints_to_sweep');
}
