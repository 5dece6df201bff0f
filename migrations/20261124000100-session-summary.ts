import type { Knex } from 'knex';

/**
 * The part of the line items that a payment link shows. Null in rows of older code, whose line items are then read. Existing
 * rows are not filled, since a session can be paid for at most a day.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE checkout_sessions ADD COLUMN summary json');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE checkout_sessions DROP COLUMN summary');
}
