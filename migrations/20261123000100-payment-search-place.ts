import type { Knex } from 'knex';

/** How far the search for the payment's transaction has come, when one look was not enough. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments ADD COLUMN search_place jsonb');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments DROP COLUMN search_place');
}
