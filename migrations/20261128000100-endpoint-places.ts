import type { Knex } from 'knex';

/** The maximum of tries in flight to an endpoint; it follows how the endpoint answers. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE webhook_endpoints ADD COLUMN places integer NOT NULL DEFAULT 10');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE webhook_endpoints DROP COLUMN places');
}
