import type { Knex } from 'knex';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.js';

export const config = { transaction: false };

/** Indexes a merchant's list of events, unfiltered and by type. The list by session needs no index of its own: it is short. */
export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, { name: 'events_list', on: 'events (account_id, livemode, id)' });
  await createIndexConcurrently(knex, {
    name: 'events_list_by_type',
    on: 'events (account_id, livemode, type, id)',
  });
}

export async function down(knex: Knex): Promise<void> {
  await dropIndexConcurrently(knex, 'events_list_by_type');
  await dropIndexConcurrently(knex, 'events_list');
}
