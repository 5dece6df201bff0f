import type { Knex } from 'knex';

/**
 * A payable is anything that a payment link can ask for: a session or a refund. Both are rows of one table, told apart by
 * the prefix of their id, with one view per kind. The view `checkout_sessions` hides refunds from older code, which keeps
 * serving during a deployment.
 * A refund has the payment that it refunds, and in `refund` the values fixed at its creation.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE checkout_sessions RENAME TO payables');
  await knex.raw(`
    ALTER TABLE payables
      ADD COLUMN refunded_payment_id text COLLATE "C",
      ADD COLUMN refund json,
      ADD CONSTRAINT payables_refunded_payment FOREIGN KEY (refunded_payment_id) REFERENCES payments NOT VALID,
      ADD CONSTRAINT payables_refund_or_not
        CHECK ((refunded_payment_id IS NULL) = (refund IS NULL)) NOT VALID`);
  await knex.raw(`
    CREATE VIEW checkout_sessions AS
    SELECT id, account_id, livemode, status, amount_total_cents, line_items, metadata, success_url, cancel_url,
      client_reference_id, customer_email, expires_at, payment_id, offered_fee_payers, late_payment_id, failure_code,
      failure_at, summary
    FROM payables WHERE id LIKE 'cs\\_%'`);
  await knex.raw(`
    CREATE VIEW refunds AS
    SELECT id, account_id, livemode, status, amount_total_cents, metadata, expires_at, payment_id, failure_code,
      refunded_payment_id, refund
    FROM payables WHERE id LIKE 're\\_%'`);
}

/** Refuses when refunds exist: without these columns a refund would be a session, and the refunded amounts would be lost. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw('LOCK TABLE payables');
  if ((await knex('refunds').first('id')) !== undefined) {
    throw new Error(
      'There are refunds, which this would lose. Older code works beside them: leave the tables as they are.',
    );
  }
  await knex.raw('DROP VIEW refunds');
  await knex.raw('DROP VIEW checkout_sessions');
  await knex.raw('ALTER TABLE payables DROP COLUMN refunded_payment_id, DROP COLUMN refund');
  await knex.raw('ALTER TABLE payables RENAME TO checkout_sessions');
}
