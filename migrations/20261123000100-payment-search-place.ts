import type { Knex } from 'knex';

/**
 * How far the search for the payment's transaction has come, when one look was not enough; and since when its
 * authorization is known to be used, by what is not known yet.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments ADD COLUMN search_place jsonb, ADD COLUMN used_seen_at timestamptz');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments DROP COLUMN search_place, DROP COLUMN used_seen_at');
}
