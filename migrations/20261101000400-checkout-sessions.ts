import type { Knex } from 'knex';

/**
 * line_items and metadata are json, not jsonb: they are written once, read whole, and keep their key order.
 * payment_id is the payment that holds a processing session, or that paid a complete one.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE checkout_sessions (
      id text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL REFERENCES accounts,
      livemode boolean NOT NULL,
      status text NOT NULL CHECK (status IN ('open', 'processing', 'complete', 'expired')),
      amount_total_cents bigint NOT NULL CHECK (amount_total_cents >= 0),
      line_items json NOT NULL,
      metadata json NOT NULL,
      success_url text,
      cancel_url text,
      client_reference_id text,
      customer_email text,
      expires_at timestamptz NOT NULL,
      payment_id text COLLATE "C"
    )`);
  await knex.raw('CREATE INDEX checkout_sessions_list ON checkout_sessions (account_id, livemode, id)');
  await knex.raw(
    'CREATE INDEX checkout_sessions_list_by_status ON checkout_sessions (account_id, livemode, status, id)',
  );
  await knex.raw(
    `CREATE INDEX checkout_sessions_overdue ON checkout_sessions (expires_at) WHERE status = 'open'`,
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE checkout_sessions');
}
