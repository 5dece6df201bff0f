import { DURABLE_COMMIT } from '../../db/durable-commit.js';
import { modelColumns } from '../../db/model-columns.js';
import { expectsOneRow } from '../../db/planner-hints.js';
import { Payment } from '../../payments/model.js';
import { SHOWN_PAYMENT_FIELDS } from '../../payments/present.js';
import { NOT_QUARANTINED, pauseAfter } from '../../upkeep/statements/work-in-flight.sql.js';
import type { WatchedPayment } from '../policy/payment-state.js';

/** Every field that the policy reads; the type makes the list complete. The statement adds `unreadableSince`. */
const READ_BY_POLICY: Record<keyof Omit<WatchedPayment, 'unreadableSince'>, true> = {
  status: true,
  validUntil: true,
  claimedAt: true,
  failedAt: true,
  failureCode: true,
  dueAt: true,
  attempt: true,
  settleCalls: true,
  settleUnclear: true,
  settleAskedAt: true,
  settleEndedAt: true,
  reportedTransaction: true,
  network: true,
  payer: true,
  unusedSeenAt: true,
  searchPlace: true,
  usedSeenAt: true,
};

/** The fields that a handler needs to decide, to call facilitator and chain, and to write the outcome with its event. */
const TAKEN_FIELDS = new Set<keyof Payment & string>([
  ...SHOWN_PAYMENT_FIELDS,
  ...(Object.keys(READ_BY_POLICY) as (keyof typeof READ_BY_POLICY)[]),
  'payableId',
  'accountId',
  'asset',
  'requirements',
  'payload',
  'stage',
  'lostTakes',
  'trace',
  'facilitator',
  'arrivedAt',
]);

export const takenColumns = modelColumns(Payment, 'payment', [...TAKEN_FIELDS]);

/** SQL for a pause that grows with each crash of a worker on the payment. */
const PAUSE_AFTER_CRASHES = pauseAfter('payment.lost_takes');

/**
 * A due time further ahead than any lease or pause was written before Postgres' clock was set back: it is due now. The
 * longest lease is that of a `/settle` call with the longest timeout, 330 s; the longest pause between checks for late money is
 * an hour.
 */
const isTooFar = (now: string, stage: string): string => `due_at > ${now}::timestamptz
    + CASE ${stage} WHEN 'watch' THEN interval '65 minutes' ELSE interval '7 minutes' END`;
/** A payment in quarantine pauses for longer. */
export const isDue = (now: string): string =>
  `(due_at <= ${now} OR (${isTooFar(now, 'stage')} + ${pauseAfter('lost_takes')}))`;

/**
 * A past time that lies further ahead than a call's longest end was written while Postgres' clock was ahead. Its call began
 * before now ($5, by the later of two clocks), and has ended at the latest when a call that begins now has ($6).
 */
const unlessAhead = (column: string, otherwise: string): string =>
  `CASE WHEN payment.${column} > $5::timestamptz + interval '7 minutes' THEN ${otherwise} ELSE payment.${column} END`;

export const BEGIN_BATCH = {
  name: 'begin_together',
  text: beginStatement('FOR NO KEY UPDATE SKIP LOCKED'),
};

export const BEGIN_ALONE = { name: 'begin_alone', text: beginStatement('FOR NO KEY UPDATE') };

function beginStatement(lock: string): string {
  return `
    WITH beginning AS MATERIALIZED (
      SELECT * FROM json_to_recordset($1) AS beginning (id text, ends_at timestamptz)
      WHERE ${expectsOneRow('id')}
    ), due AS MATERIALIZED (
      SELECT due.id, beginning.ends_at
      FROM beginning CROSS JOIN LATERAL (
        SELECT id FROM payments
        WHERE id = beginning.id AND stage = 'settle' AND status = 'processing' AND ${isDue('$2')}
        ${lock}
      ) due
    ), begun AS (
      UPDATE payments payment
      SET attempt = payment.attempt + 1, lost_takes = payment.lost_takes + 1, stage = 'confirm',
        due_at = due.ends_at + ${PAUSE_AFTER_CRASHES},
        -- A call that was begun and never ended had no clear answer.
        settle_unclear = payment.settle_unclear OR (payment.settle_calls > 0 AND payment.settle_ended_at IS NULL),
        settle_calls = payment.settle_calls + 1, settle_asked_at = $3, settle_ended_at = NULL
      FROM due
      WHERE payment.id = due.id AND payment.stage = 'settle' AND payment.status = 'processing'
      RETURNING payment.*
    )
    SELECT ${takenColumns.sql}, ${DURABLE_COMMIT} FROM begun payment`;
}

export const BEGIN_CHECK = {
  name: 'begin_check',
  text: `
    WITH due AS MATERIALIZED (
      SELECT id, due_at, unreadable_since FROM payments
      WHERE id = $1 AND stage IN ('confirm', 'watch') AND ${isDue('$2')}
      FOR NO KEY UPDATE
    )
    UPDATE payments payment
    SET attempt = payment.attempt + 1, lost_takes = payment.lost_takes + 1,
      due_at = $3::timestamptz + ${PAUSE_AFTER_CRASHES}, unreadable_since = NULL,
      settle_asked_at = ${unlessAhead('settle_asked_at', '$5::timestamptz')},
      settle_ended_at = ${unlessAhead('settle_ended_at', '$6::timestamptz')},
      unused_seen_at = ${unlessAhead('unused_seen_at', 'NULL')}
    FROM due
    WHERE payment.id = due.id
    RETURNING ${takenColumns.sql}, CASE WHEN due.due_at > $4 THEN due.unreadable_since END AS silent_since`,
};

export const DUE_OF_STAGE = {
  name: 'due_of_stage',
  text: `
    SELECT * FROM (
      SELECT id, stage, attempt, due_at AS "dueAt", lost_takes AS crashes FROM payments
      WHERE stage = $1 AND due_at <= $2 AND ${NOT_QUARANTINED}
      ORDER BY due_at LIMIT $3
    ) due UNION ALL (
      -- The due time of the job, too, is now.
      SELECT id, stage, attempt, $2::timestamptz, lost_takes FROM payments
      WHERE stage = $1 AND ${isTooFar('$2', '$1')} AND ${NOT_QUARANTINED}
      ORDER BY due_at DESC LIMIT $3
    )`,
};
