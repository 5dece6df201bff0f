import type { Knex } from 'knex';

/** Where the request that claimed stands in its trace (W3C's `traceparent`), while traces are on: worker and webhooks go on from it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments ADD COLUMN trace text');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments DROP COLUMN trace');
}
