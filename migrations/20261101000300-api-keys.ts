import type { Knex } from 'knex';

/** Checkout keys, stored as the SHA-256 of the secret. `facilitator_key_id` is set on keys created with an agent's token. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE api_keys (
      id text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL REFERENCES accounts,
      livemode boolean NOT NULL,
      name text NOT NULL,
      secret_sha256 bytea NOT NULL,
      facilitator_key_id text,
      revoked_at timestamptz
    )`);
  await knex.raw('CREATE UNIQUE INDEX api_keys_secret ON api_keys (secret_sha256)');
  // The index serves the hourly count of keys created with tokens: ids sort by time.
  await knex.raw('CREATE INDEX api_keys_account ON api_keys (account_id, id)');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE api_keys');
}
