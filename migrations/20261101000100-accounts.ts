import type { Knex } from 'knex';

/** Merchants. Payments go to the wallets; null: the merchant has no wallet for that family of chains yet. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE accounts (
      id text COLLATE "C" PRIMARY KEY,
      name text NOT NULL,
      evm_wallet text,
      solana_wallet text,
      logo_url text,
      brand_color text,
      support_email text
    )`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE accounts');
}
