import type { Knex } from 'knex';

/** The checks are NOT VALID, so that no row is read under the table's strongest lock; the next migration validates them. */
export async function up(knex: Knex): Promise<void> {
  for (const table of ['payments', 'events']) {
    await knex.raw(`
      ALTER TABLE ${table}
        ADD CONSTRAINT ${table}_payable_id CHECK (payable_id IS NOT NULL) NOT VALID,
        ADD CONSTRAINT ${table}_payable FOREIGN KEY (payable_id) REFERENCES payables NOT VALID`);
  }
  await knex.raw(`
    ALTER TABLE payment_marks ADD CONSTRAINT payment_marks_payable_id CHECK (payable_id IS NOT NULL) NOT VALID`);
  await knex.raw(`
    CREATE OR REPLACE VIEW payment_uses AS
    SELECT id AS payment_id, checkout_session_id, payload_key, payload_released, identifier, network, transaction,
      proof_index, payable_id
    FROM payments
    UNION ALL
    SELECT payment_id, checkout_session_id, payload_key, payload_released, identifier, network, transaction,
      proof_index, payable_id
    FROM payment_marks`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP VIEW payment_uses');
  await knex.raw(`
    CREATE VIEW payment_uses AS
    SELECT id AS payment_id, checkout_session_id, payload_key, payload_released, identifier, network, transaction,
      proof_index
    FROM payments
    UNION ALL
    SELECT payment_id, checkout_session_id, payload_key, payload_released, identifier, network, transaction, proof_index
    FROM payment_marks`);
  for (const table of ['payments', 'events'])
    await knex.raw(`
      ALTER TABLE ${table} DROP CONSTRAINT ${table}_payable, DROP CONSTRAINT ${table}_payable_id`);
  await knex.raw('ALTER TABLE payment_marks DROP CONSTRAINT payment_marks_payable_id');
}
