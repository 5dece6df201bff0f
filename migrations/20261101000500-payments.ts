import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE payments (
      id text COLLATE "C" PRIMARY KEY,
      checkout_session_id text COLLATE "C" NOT NULL REFERENCES checkout_sessions,
      account_id text COLLATE "C" NOT NULL REFERENCES accounts,
      livemode boolean NOT NULL,
      status text NOT NULL CHECK (status IN ('processing', 'succeeded', 'failed')),
      amount_cents bigint NOT NULL,
      token text NOT NULL CHECK (token IN ('USDC', 'USDT', 'USDG')),
      token_amount numeric(78, 0) NOT NULL,
      token_decimals smallint NOT NULL,
      network text NOT NULL,
      payer text,
      pay_to text NOT NULL,
      channel text NOT NULL CHECK (channel IN ('page', 'x402')),
      transaction text,
      settled_at timestamptz
    )`);
  await knex.raw(
    `CREATE INDEX payments_list ON payments (account_id, livemode, id) WHERE status = 'succeeded'`,
  );
  await knex.raw('CREATE INDEX payments_of_session ON payments (checkout_session_id)');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE payments');
}
