import type { Knex } from 'knex';

/** Deleted endpoints stay as rows: a list cursor that names one keeps working. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE webhook_endpoints (
      id text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL REFERENCES accounts,
      livemode boolean NOT NULL,
      url text NOT NULL,
      enabled_events text[] NOT NULL,
      status text NOT NULL CHECK (status IN ('enabled', 'disabled')),
      description text,
      sealed_secret text NOT NULL,
      deleted_at timestamptz
    )`);
  await knex.raw(
    'CREATE INDEX webhook_endpoints_list ON webhook_endpoints (account_id, livemode, id) WHERE deleted_at IS NULL',
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE webhook_endpoints');
}
