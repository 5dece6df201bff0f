import type { Knex } from 'knex';

/** The first of the consecutive failed look-ups on the payment's chain; null after a successful one. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments ADD COLUMN unreadable_since timestamptz');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments DROP COLUMN unreadable_since');
}
