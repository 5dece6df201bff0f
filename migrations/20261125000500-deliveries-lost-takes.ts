import type { Knex } from 'knex';

/** Takers of a delivery since an outcome was last written, the present one included: what workers die with is taken alone. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE webhook_deliveries ADD COLUMN lost_takes integer NOT NULL DEFAULT 0');
  await knex.raw(
    `CREATE INDEX webhook_deliveries_apart ON webhook_deliveries (lost_takes, due_at)
     WHERE lost_takes >= 2 AND due_at IS NOT NULL`,
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX webhook_deliveries_apart');
  await knex.raw('ALTER TABLE webhook_deliveries DROP COLUMN lost_takes');
}
