import type { Knex } from 'knex';

/** Public Ed25519 keys (SPKI DER) whose tokens may create checkout keys for their account. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE facilitator_keys (
      key_id text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL REFERENCES accounts,
      public_key bytea NOT NULL
    )`);
  await knex.raw('CREATE INDEX facilitator_keys_account ON facilitator_keys (account_id)');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE facilitator_keys');
}
