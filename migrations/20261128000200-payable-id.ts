import type { Knex } from 'knex';

/**
 * `checkout_session_id` holds the id of a session or of a refund, so it is renamed to `payable_id`. Code of the previous
 * release reads and writes the old column during a deployment, so a trigger fills whichever column an INSERT leaves out.
 * A later release drops the old column.
 */
const TABLES = ['payments', 'events', 'payment_marks'];

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION fill_payable_id() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.payable_id := coalesce(NEW.payable_id, NEW.checkout_session_id);
      NEW.checkout_session_id := NEW.payable_id;
      RETURN NEW;
    END $$`);
  for (const table of TABLES) {
    await knex.raw(`ALTER TABLE ${table} ADD COLUMN payable_id text COLLATE "C"`);
    await knex.raw(`
      CREATE TRIGGER fill_payable_id BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION fill_payable_id()`);
  }
}

export async function down(knex: Knex): Promise<void> {
  for (const table of TABLES) {
    await knex.raw(`DROP TRIGGER fill_payable_id ON ${table}`);
    await knex.raw(`ALTER TABLE ${table} DROP COLUMN payable_id`);
  }
  await knex.raw('DROP FUNCTION fill_payable_id');
}
