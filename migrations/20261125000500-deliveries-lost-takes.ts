import type { Knex } from 'knex';

/** Takes of a delivery since an outcome was last written, the current one included; workers quarantine it when they crash on it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE webhook_deliveries ADD COLUMN lost_takes integer NOT NULL DEFAULT 0');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE webhook_deliveries DROP COLUMN lost_takes');
}
