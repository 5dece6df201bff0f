import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

/** The index serves the operator's list of failing endpoints. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'webhook_endpoints_failing',
    on: 'webhook_endpoints (failing_since) WHERE failing_since IS NOT NULL AND deleted_at IS NULL',
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropIndexConcurrently(knex, 'webhook_endpoints_failing');
}
