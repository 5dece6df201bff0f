import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

export const config = { transaction: false };

/** Indexes a merchant's list of an endpoint's deliveries, newest first, unfiltered and by status. */
export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'webhook_deliveries_list',
    on: 'webhook_deliveries (endpoint_id, id)',
  });
  await createIndexConcurrently(knex, {
    name: 'webhook_deliveries_over',
    on: "webhook_deliveries (endpoint_id, status, id) WHERE status <> 'pending'",
  });
  await createIndexConcurrently(knex, {
    name: 'webhook_deliveries_pending_list',
    on: "webhook_deliveries (endpoint_id, id) WHERE status = 'pending'",
  });
  await dropIndexConcurrently(knex, 'webhook_deliveries_pending');
}

export async function down(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'webhook_deliveries_pending',
    on: "webhook_deliveries (endpoint_id) WHERE status = 'pending'",
  });
  for (const name of ['pending_list', 'over', 'list']) {
    await dropIndexConcurrently(knex, `webhook_deliveries_${name}`);
  }
}
