import type { Knex } from 'knex';

/** Set while the deliveries of an endpoint are held because a worker could not open its secret. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE webhook_endpoints ADD COLUMN unreadable_since timestamptz');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE webhook_endpoints DROP COLUMN unreadable_since');
}
