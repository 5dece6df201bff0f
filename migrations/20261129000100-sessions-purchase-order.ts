import type { Knex } from 'knex';

const COLUMNS = `id, account_id, livemode, status, amount_total_cents, line_items, metadata, success_url, cancel_url,
  client_reference_id, customer_email, expires_at, payment_id, offered_fee_payers, late_payment_id, failure_code,
  failure_at, summary`;
const SESSIONS = String.raw`FROM payables WHERE id LIKE 'cs\_%'`;

export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE payables ADD COLUMN purchase_order text');
  await knex.raw(`CREATE OR REPLACE VIEW checkout_sessions AS SELECT ${COLUMNS}, purchase_order ${SESSIONS}`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP VIEW checkout_sessions');
  await knex.raw(`CREATE VIEW checkout_sessions AS SELECT ${COLUMNS} ${SESSIONS}`);
  await knex.raw('ALTER TABLE payables DROP COLUMN purchase_order');
}
