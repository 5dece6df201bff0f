import { sessionAsJson } from '../../checkout-sessions/statements/as-json.sql.js';
import { expectsOneRow } from '../../db/planner-hints.js';
import type { Statement } from '../../db/statement.js';
import { PAYABLE_MOVES } from '../../payables/states.js';
import { historyWith } from '../../payments/history.js';
import { PAYMENT_MOVES } from '../../payments/states.js';
import { IS_REFUND, succeededRefundAsJson } from '../../refunds/statements/as-json.sql.js';
import type { EventType } from '../../webhooks/event-types.js';
import { fanOut } from '../../webhooks/statements/events.sql.js';

/** One element of the JSON in $1 of the statements below. */
export interface SuccessRow {
  id: string;
  attempt: number;
  payable_id: string;
  transaction: string;
  proof_index: number;
  payer: string | null;
  settled_at: Date;
  observation: object;
  event_id: string;
  /** The payment as the event shows it. */
  shown: object;
}

const SUCCESSES = `json_to_recordset($1) AS success (id text, attempt integer, payable_id text, transaction text,
        proof_index integer, payer text, settled_at timestamptz, observation jsonb, event_id text, shown json)`;

/** Sets the payment's columns from the columns of `success`. */
function setSucceeded(success: string): string {
  return `status = '${PAYMENT_MOVES.succeed.to}', transaction = ${success}.transaction,
        proof_index = ${success}.proof_index, payer = ${success}.payer, settled_at = ${success}.settled_at, stage = NULL,
        due_at = NULL, failure_code = NULL, search_place = NULL, used_seen_at = NULL,
        history = ${historyWith(`${success}.observation`)}`;
}

/** The `proof_index` of a transaction that the facilitator or an operator named, without the chain's proof. */
export const NOT_PROVED = -1;

/** Payments of 0.2.0 have no `proof_index` when their transaction was only named. */
const NAMED_BEFORE = "other.proof_index IS NULL AND other.status = 'succeeded'";

/**
 * The transfer proved a payment that has left the tables for the archive; or the transaction was only named, and another
 * payment has it. Two payments whose transaction was only named can't both have it, by the unique index.
 */
function proofTaken(success: string): string {
  const hasIt = (table: string, id: string, proof: string): string => `EXISTS (
          SELECT FROM ${table} other
          WHERE other.network = payment.network AND other.transaction = ${success}.transaction
            AND ${proof} AND other.${id} <> ${success}.id
        )`;
  const isArchivedProof = `other.proof_index IS NOT NULL AND ${success}.proof_index IN (other.proof_index, ${NOT_PROVED})`;
  return `(${hasIt('payment_marks', 'payment_id', isArchivedProof)} OR ${success}.proof_index = ${NOT_PROVED} AND (
          ${hasIt('payments', 'id', 'other.proof_index IS NOT NULL')}
          OR ${hasIt('payments', 'id', NAMED_BEFORE)}
          OR ${hasIt('payment_marks', 'payment_id', 'other.proof_index IS NULL')}
        ))`;
}

const SESSION_COMPLETED: EventType = 'checkout.session.completed';
const REFUND_UPDATED: EventType = 'refund.updated';
const SHOWN_SESSION = sessionAsJson({
  status: PAYABLE_MOVES.complete.to,
  paymentStatus: 'paid',
  payment: 'succeeded.shown::text',
});

/**
 * Payments that succeed while they hold their payables ($2, $3 are the statuses of both before): payment, session or
 * refund, event and deliveries. Locks the payable, then the payment. A payment whose payable holds late money, or whose
 * proof is taken, is left out. Postgres renders the events, so large sessions never pass through the worker.
 */
function succeedStatement(lock: string): string {
  return `
    WITH success AS MATERIALIZED (
      SELECT * FROM ${SUCCESSES}
      WHERE ${expectsOneRow('id')}
    ), held AS MATERIALIZED (
      SELECT success.*
      FROM success CROSS JOIN LATERAL (
        SELECT FROM payables
        WHERE id = success.payable_id AND status = $2 AND payment_id = success.id AND late_payment_id IS NULL
        ${lock}
      ) payable
    ), succeeded AS (
      UPDATE payments payment
      SET ${setSucceeded('held')}
      FROM held
      WHERE payment.id = held.id AND payment.attempt = held.attempt AND payment.status = ANY ($3)
        AND NOT ${proofTaken('held')}
      RETURNING payment.id, held.payable_id, held.event_id, held.shown
    ), completed AS (
      UPDATE payables session
      SET status = '${PAYABLE_MOVES.complete.to}'
      FROM succeeded
      WHERE session.id = succeeded.payable_id AND session.status = $2 AND session.payment_id = succeeded.id
      RETURNING session.id, session.account_id, session.livemode, succeeded.event_id,
        CASE WHEN ${IS_REFUND} THEN '${REFUND_UPDATED}' ELSE '${SESSION_COMPLETED}' END AS type,
        CASE WHEN ${IS_REFUND} THEN ${succeededRefundAsJson('succeeded.shown')} ELSE ${SHOWN_SESSION} END AS object
    ), written AS (
      INSERT INTO events (id, account_id, livemode, type, payable_id, object)
      SELECT event_id, account_id, livemode, type, id, object FROM completed
      RETURNING id, account_id, livemode, type
    ), delivery AS (${fanOut('$4')}
    )
    SELECT written.id AS "eventId", array_remove(array_agg(delivery."endpointId"), NULL) AS "endpointIds"
    FROM written LEFT JOIN delivery ON delivery."eventId" = written.id
    GROUP BY written.id`;
}

export const SUCCEED_TOGETHER: Statement = {
  name: 'succeed_together',
  text: succeedStatement('FOR NO KEY UPDATE SKIP LOCKED'),
};

export const SUCCEED_ALONE: Statement = {
  name: 'succeed_alone',
  text: succeedStatement('FOR NO KEY UPDATE'),
};

/** The payment alone, whatever holds its payable: the caller has locked that. $2 are its statuses before. */
export const SUCCEED_PAYMENT: Statement = {
  name: 'succeed_payment',
  text: `
    UPDATE payments payment
    SET ${setSucceeded('success')}
    FROM ${SUCCESSES}
    WHERE payment.id = success.id AND payment.attempt = success.attempt AND payment.status = ANY ($2)
    RETURNING payment.id`,
};

/** Returns a row when the proof of the first row of $1 is another payment's; the unique index has the rest. */
export const PROOF_TAKEN: Statement = {
  name: 'proof_taken',
  text: `
    SELECT FROM ${SUCCESSES} JOIN payments payment USING (id)
    WHERE ${expectsOneRow('success.id')} AND ${proofTaken('success')}`,
};
