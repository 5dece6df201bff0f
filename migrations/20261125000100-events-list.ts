import type { Knex } from 'knex';

/** A merchant reads its events again: all, or those of one type. Those of one session are few. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('CREATE INDEX events_list ON events (account_id, livemode, id)');
  await knex.raw('CREATE INDEX events_list_by_type ON events (account_id, livemode, type, id)');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX events_list, events_list_by_type');
}
