import type { Knex } from 'knex';

/**
 * Months that leave the tables for an archive. `payment_marks` has what is unique over all time, of payments that are gone:
 * a signature that was used stays used. `payment_uses` has it of payments and of those that are gone. A refund outlives the
 * payment that it gave back.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE payment_marks (
      payment_id text COLLATE "C" PRIMARY KEY,
      checkout_session_id text COLLATE "C" NOT NULL,
      payload_key text COLLATE "C" NOT NULL,
      payload_released boolean NOT NULL,
      identifier text COLLATE "C",
      network text NOT NULL,
      transaction text,
      proof_index integer
    )`);
  await knex.raw(
    'CREATE UNIQUE INDEX payment_marks_payload ON payment_marks (payload_key) WHERE NOT payload_released',
  );
  await knex.raw('CREATE INDEX payment_marks_payload_ever ON payment_marks (payload_key)');
  await knex.raw(`
    CREATE UNIQUE INDEX payment_marks_identifier ON payment_marks (checkout_session_id, identifier)
    WHERE identifier IS NOT NULL AND NOT payload_released`);
  await knex.raw(`
    CREATE UNIQUE INDEX payment_marks_proof ON payment_marks (network, transaction, proof_index)
    WHERE proof_index IS NOT NULL`);
  await knex.raw(`
    CREATE VIEW payment_uses AS
    SELECT id AS payment_id, checkout_session_id, payload_key, payload_released, identifier, network, transaction,
      proof_index
    FROM payments
    UNION ALL
    SELECT payment_id, checkout_session_id, payload_key, payload_released, identifier, network, transaction, proof_index
    FROM payment_marks`);
  await knex.raw(`
    CREATE TABLE archived_parts (
      month text NOT NULL,
      part integer NOT NULL,
      written_at timestamptz NOT NULL,
      manifest json NOT NULL,
      PRIMARY KEY (month, part)
    )`);
  await knex.raw('ALTER TABLE payables DROP CONSTRAINT payables_refunded_payment');
}

/** Without its mark a signature of an archived payment would be taken again. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw('LOCK TABLE payment_marks');
  if ((await knex('payment_marks').first('payment_id')) !== undefined) {
    throw new Error(
      'There are archived payments, whose signatures this would forget: leave the tables as they are.',
    );
  }
  const { rows } = await knex.raw(`SELECT relkind FROM pg_class WHERE oid = 'payments'::regclass`);
  if (rows[0]?.relkind === 'p') {
    throw new Error('The tables are kept by month, which needs this migration: leave them as they are.');
  }
  await knex.raw(`
    ALTER TABLE payables ADD CONSTRAINT payables_refunded_payment
      FOREIGN KEY (refunded_payment_id) REFERENCES payments NOT VALID`);
  await knex.raw('DROP TABLE archived_parts');
  await knex.raw('DROP VIEW payment_uses');
  await knex.raw('DROP TABLE payment_marks');
}
