import type { Knex } from 'knex';

/** Since when every look at the payment's chain has failed; null when the last one did not. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments ADD COLUMN unreadable_since timestamptz');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments DROP COLUMN unreadable_since');
}
