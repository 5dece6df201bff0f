import type { Knex } from 'knex';

/**
 * Columns for the settlement of payments.
 * stage and due_at: the next work and its time. The stages are to settle the payment, to confirm it on the chain, and to
 * watch for late money. The stage `confirm` is set before /settle is called, to record that money may be moving.
 * payload_key: unique until it is released, when the payment certainly never reached the facilitator.
 * A session's late_payment_id: a payment that arrived while another one was in flight. failure_code and failure_at: the
 * outcome for a buyer who was answered 202.
 * proof_index: set when the chain, not only the facilitator's answer, proved the payment.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE payments
      ADD COLUMN asset text NOT NULL,
      ADD COLUMN payload_key text COLLATE "C" NOT NULL,
      ADD COLUMN payload_released boolean NOT NULL DEFAULT false,
      ADD COLUMN requirements json NOT NULL,
      ADD COLUMN payload json NOT NULL,
      ADD COLUMN valid_until timestamptz NOT NULL,
      ADD COLUMN claimed_at timestamptz NOT NULL,
      ADD COLUMN stage text CHECK (stage IN ('settle', 'confirm', 'watch')),
      ADD COLUMN due_at timestamptz,
      ADD COLUMN attempt integer NOT NULL DEFAULT 0,
      ADD COLUMN settle_calls integer NOT NULL DEFAULT 0,
      ADD COLUMN settle_asked_at timestamptz,
      ADD COLUMN settle_ended_at timestamptz,
      ADD COLUMN settle_unclear boolean NOT NULL DEFAULT false,
      ADD COLUMN unused_seen_at timestamptz,
      ADD COLUMN reported_transaction text,
      ADD COLUMN proof_index integer,
      ADD COLUMN failure_code text,
      ADD COLUMN failed_at timestamptz,
      ADD COLUMN answered_processing boolean NOT NULL DEFAULT false,
      ADD COLUMN surplus boolean NOT NULL DEFAULT false,
      ADD COLUMN history jsonb NOT NULL DEFAULT '[]',
      ADD CHECK ((stage IS NULL) = (due_at IS NULL))`);
  await knex.raw('CREATE UNIQUE INDEX payments_payload ON payments (payload_key) WHERE NOT payload_released');
  await knex.raw('CREATE INDEX payments_payload_ever ON payments (payload_key)');
  await knex.raw(
    'CREATE UNIQUE INDEX payments_proof ON payments (network, transaction, proof_index) WHERE proof_index IS NOT NULL',
  );
  await knex.raw('CREATE INDEX payments_due ON payments (due_at) WHERE due_at IS NOT NULL');
  await knex.raw(`CREATE INDEX payments_undecided ON payments (id) WHERE status = 'processing'`);
  await knex.raw(`
    ALTER TABLE checkout_sessions
      ADD COLUMN offered_fee_payers text[],
      ADD COLUMN late_payment_id text COLLATE "C",
      ADD COLUMN failure_code text,
      ADD COLUMN failure_at timestamptz`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE checkout_sessions
      DROP COLUMN offered_fee_payers, DROP COLUMN late_payment_id, DROP COLUMN failure_code, DROP COLUMN failure_at`);
  await knex.raw(
    'DROP INDEX payments_payload, payments_payload_ever, payments_proof, payments_due, payments_undecided',
  );
  await knex.raw(`
    ALTER TABLE payments
      DROP COLUMN asset, DROP COLUMN payload_key, DROP COLUMN payload_released, DROP COLUMN requirements,
      DROP COLUMN payload, DROP COLUMN valid_until, DROP COLUMN claimed_at, DROP COLUMN stage, DROP COLUMN due_at,
      DROP COLUMN attempt, DROP COLUMN settle_calls, DROP COLUMN settle_asked_at, DROP COLUMN settle_ended_at,
      DROP COLUMN settle_unclear, DROP COLUMN unused_seen_at, DROP COLUMN reported_transaction, DROP COLUMN proof_index,
      DROP COLUMN failure_code, DROP COLUMN failed_at, DROP COLUMN answered_processing, DROP COLUMN surplus,
      DROP COLUMN history`);
}
