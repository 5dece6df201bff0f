import type { Knex } from 'knex';

/**
 * The table has one row. `id` tells two deployments on one Redis apart. `timeline` is Postgres' own when a process last
 * looked: after a promotion Postgres is on a later one. `doubted_at` is when a process last saw that commits may be lost.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE installation (
      is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      timeline integer,
      doubted_at timestamptz
    )`);
  await knex.raw('INSERT INTO installation DEFAULT VALUES');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE installation');
}
