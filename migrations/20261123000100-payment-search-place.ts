import type { Knex } from 'knex';

/**
 * search_place: where an unfinished search for the payment's transaction continues. used_seen_at: since when the
 * authorization is known to be used by a transaction that was not found yet.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments ADD COLUMN search_place jsonb, ADD COLUMN used_seen_at timestamptz');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments DROP COLUMN search_place, DROP COLUMN used_seen_at');
}
