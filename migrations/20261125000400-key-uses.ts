import type { Knex } from 'knex';

/** last_used_at: to the hour. The index is for a merchant's list of its keys. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE api_keys ADD COLUMN last_used_at timestamptz');
  await knex.raw(
    'CREATE INDEX api_keys_list ON api_keys (account_id, livemode, id) WHERE revoked_at IS NULL',
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX api_keys_list');
  await knex.raw('ALTER TABLE api_keys DROP COLUMN last_used_at');
}
