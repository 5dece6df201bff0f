import type { Knex } from 'knex';

/**
 * With a standby, an account that has written reads from the primary until `until`. An account's row is renewed every few
 * seconds while it writes.
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
