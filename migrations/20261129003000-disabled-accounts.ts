import type { Knex } from 'knex';

/**
 * The keys of a disabled account are revoked and `suspended`: code of the previous release refuses them too, and enabling the
 * account brings back these keys only.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE accounts ADD COLUMN disabled_at timestamptz');
  await knex.raw('ALTER TABLE api_keys ADD COLUMN suspended boolean NOT NULL DEFAULT false');
}

/** Suspended keys stay revoked. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE api_keys DROP COLUMN suspended');
  await knex.raw('ALTER TABLE accounts DROP COLUMN disabled_at');
}
