import type { Knex } from 'knex';

/**
 * Until when an account's reads are asked of the primary, since a key of it has written: where there is a standby, a row
 * for each account that writes, renewed every few seconds while it does.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE account_writes (
      account_id text COLLATE "C" PRIMARY KEY,
      until timestamptz NOT NULL
    ) WITH (fillfactor = 50)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE account_writes');
}
