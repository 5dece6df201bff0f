import type { Knex } from 'knex';

/** The W3C `traceparent` of the request that claimed the session, so that worker and webhooks continue its trace. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments ADD COLUMN trace text');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payments DROP COLUMN trace');
}
