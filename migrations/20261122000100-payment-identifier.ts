import type { Knex } from 'knex';

/** The buyer's own name for its payment, under which it may send it again; unique in its session while it counts. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments ADD COLUMN identifier text COLLATE "C"');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments DROP COLUMN identifier');
}
