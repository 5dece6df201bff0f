import type { Knex } from 'knex';

/**
 * Every wallet that an account has had, so that money which reaches an earlier one is found. A trigger writes them, since
 * code of the previous release changes wallets during a deployment.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE payout_wallets (
      account_id text COLLATE "C" NOT NULL,
      family text NOT NULL,
      wallet text COLLATE "C" NOT NULL,
      PRIMARY KEY (account_id, family, wallet)
    )`);
  await knex.raw(`
    CREATE FUNCTION note_payout_wallets() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO payout_wallets (account_id, family, wallet)
      SELECT NEW.id, family, wallet FROM (VALUES ('evm', NEW.evm_wallet), ('svm', NEW.solana_wallet)) had (family, wallet)
      WHERE wallet IS NOT NULL
      ON CONFLICT DO NOTHING;
      RETURN NULL;
    END $$`);
  await knex.raw(`
    CREATE TRIGGER note_payout_wallets AFTER INSERT OR UPDATE OF evm_wallet, solana_wallet ON accounts
      FOR EACH ROW EXECUTE FUNCTION note_payout_wallets()`);
  await knex.raw(`
    INSERT INTO payout_wallets (account_id, family, wallet)
    SELECT id, family, wallet
    FROM accounts CROSS JOIN LATERAL (VALUES ('evm', evm_wallet), ('svm', solana_wallet)) had (family, wallet)
    WHERE wallet IS NOT NULL`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TRIGGER note_payout_wallets ON accounts');
  await knex.raw('DROP FUNCTION note_payout_wallets');
  await knex.raw('DROP TABLE payout_wallets');
}
