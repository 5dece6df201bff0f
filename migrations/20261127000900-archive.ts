import type { Knex } from 'knex';

/**
 * Prepares the archiving of months. `payment_marks` keeps the unique values of archived payments, so that a used signature
 * stays used. The view `payment_uses` has these values of payments in the tables and of archived ones. The foreign key goes,
 * since a refund outlives its archived payment.
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

/** Refuses when there are marks: without its mark the signature of an archived payment could be used again. */
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
