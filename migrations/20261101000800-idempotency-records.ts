import type { Knex } from 'knex';

/** The first answer to each Idempotency-Key, written in the transaction of its effect. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE idempotency_records (
      account_id text COLLATE "C" NOT NULL REFERENCES accounts,
      livemode boolean NOT NULL,
      key text COLLATE "C" NOT NULL,
      path text NOT NULL,
      fingerprint bytea NOT NULL,
      answer text NOT NULL,
      sealed boolean NOT NULL,
      created_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, livemode, key)
    )`);
  await knex.raw('CREATE INDEX idempotency_records_age ON idempotency_records (created_at)');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE idempotency_records');
}
