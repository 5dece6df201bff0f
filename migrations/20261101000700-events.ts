import type { Knex } from 'knex';

/** `object` is the CheckoutSession as it was when the event happened, in its wire form. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE events (
      id text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL REFERENCES accounts,
      livemode boolean NOT NULL,
      type text NOT NULL,
      checkout_session_id text COLLATE "C" NOT NULL REFERENCES checkout_sessions,
      object json NOT NULL
    )`);
  await knex.raw('CREATE INDEX events_of_session ON events (checkout_session_id)');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE events');
}
