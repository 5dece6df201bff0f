import type { Knex } from 'knex';

/**
 * Code since 0.2.0 reads and writes `payable_id`. The trigger that filled `checkout_session_id` beside it ran for each payment
 * and each event.
 */
const TABLES = ['payments', 'events', 'payment_marks'];

export async function up(knex: Knex): Promise<void> {
  await knex.raw('DROP VIEW payment_uses');
  for (const table of TABLES) {
    await knex.raw(`DROP TRIGGER fill_payable_id ON ${table}`);
    await knex.raw(`ALTER TABLE ${table} DROP COLUMN checkout_session_id`);
  }
  await knex.raw('DROP FUNCTION fill_payable_id');
  await createView(knex, 'payable_id');
}

/** Fills the column of all rows at once: in large tables that takes minutes, in which nothing is written. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP VIEW payment_uses');
  await knex.raw(`
    CREATE FUNCTION fill_payable_id() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.payable_id := coalesce(NEW.payable_id, NEW.checkout_session_id);
      NEW.checkout_session_id := NEW.payable_id;
      RETURN NEW;
    END $$`);
  for (const table of TABLES) {
    await knex.raw(`ALTER TABLE ${table} ADD COLUMN checkout_session_id text COLLATE "C"`);
    await knex.raw(`UPDATE ${table} SET checkout_session_id = payable_id`);
    await knex.raw(`ALTER TABLE ${table} ALTER COLUMN checkout_session_id SET NOT NULL`);
    await knex.raw(`
      CREATE TRIGGER fill_payable_id BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION fill_payable_id()`);
  }
  await createView(knex, 'checkout_session_id, payable_id');
}

async function createView(knex: Knex, ids: string): Promise<void> {
  const shared = `payload_key, payload_released, identifier, network, transaction, proof_index, ${ids}`;
  await knex.raw(`
    CREATE VIEW payment_uses AS
    SELECT id AS payment_id, ${shared} FROM payments
    UNION ALL
    SELECT payment_id, ${shared} FROM payment_marks`);
}
