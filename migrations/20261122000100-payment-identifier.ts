import type { Knex } from 'knex';

/** The buyer's identifier of the payment, for repeated requests. Unique in its session until the payload is released. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments ADD COLUMN identifier text COLLATE "C"');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments DROP COLUMN identifier');
}
