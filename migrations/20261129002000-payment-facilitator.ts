import type { Knex } from 'knex';

/** The facilitator that a payment belongs to, by its short name, and when its signature arrived. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments ADD COLUMN facilitator text, ADD COLUMN arrived_at timestamptz');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments DROP COLUMN facilitator, DROP COLUMN arrived_at');
}
