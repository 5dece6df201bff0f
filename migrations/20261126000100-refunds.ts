import type { Knex } from 'knex';

/**
 * What a link asks to have paid is a payable: a session's total, or a refund. Both are rows of one table, told by their
 * ids, and each kind is seen through a view of its own. `checkout_sessions` is one of them: older code, which goes on
 * serving, sees no refund in it, lists none, and settles none as if it were a session.
 * Of a refund: the payment that it gives back, and what was fixed when it was made, in `refund`.
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

/** Without these columns a refund would be a session, and what was given back forgotten: where there is one, no way back. */
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
