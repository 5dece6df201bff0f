import type { Statement } from '../../db/statement.js';
import { fits } from '../../upkeep/statements/retention.sql.js';
import { BYTES_OF_SESSION } from './as-json.sql.js';

/** As its index says it. */
const OVER_AND_NAMED = `customer_email IS NOT NULL AND status IN ('complete', 'expired')`;

/** Those that could be paid until $1 at the latest: at most $2, and as many as fit into $3 bytes. */
export const TAKE_NAMED: Statement = {
  name: undefined,
  text: fits(
    'id',
    `SELECT id, ${BYTES_OF_SESSION} AS bytes FROM payables session WHERE ${OVER_AND_NAMED} AND expires_at < $1
     ORDER BY expires_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED`,
  ),
};

/**
 * In the text of a session, of which every other byte stays: its first, since what merchants have written comes later or
 * in strings, where quotes are escaped. Only of a text that is known to have one.
 */
const withoutEmail = (text: string): string =>
  String.raw`regexp_replace(${text}, '"customer_email"\s*:\s*"(\\.|[^"\\])*"', '"customer_email":null')`;

/** Of the sessions $1, whose rows are held. Receivers may have answered with what they were sent. */
export const ERASE: Statement = {
  name: undefined,
  text: `
  WITH told AS (
    UPDATE events SET object = ${withoutEmail('object::text')}::json
    WHERE checkout_session_id = ANY ($1::text[]) AND object ->> 'customer_email' IS NOT NULL
    RETURNING 1
  ), answered AS (
    UPDATE webhook_deliveries SET answers_removed = answers_removed OR status <> 'pending', history = (
      SELECT jsonb_agg(jsonb_set(entry, '{answer}', 'null')) FROM jsonb_array_elements(history) entry)
    WHERE id = ANY (ARRAY(
      SELECT delivery.id FROM events event JOIN webhook_deliveries delivery ON delivery.event_id = event.id
      WHERE event.checkout_session_id = ANY ($1) AND delivery.history @? '$[*].answer ? (@ != null)'
      ORDER BY delivery.id FOR NO KEY UPDATE OF delivery
    ))
    RETURNING 1
  ), named AS (
    UPDATE payables SET customer_email = NULL WHERE id = ANY ($1) AND customer_email IS NOT NULL
    RETURNING 1
  )
  SELECT (SELECT count(*)::int FROM named) AS sessions, (SELECT count(*)::int FROM told) AS events,
    (SELECT count(*)::int FROM answered) AS "deliveryAnswers"`,
};

/**
 * What is kept for a day for Idempotency-Keys, of the session $1 while it names a buyer: answers to its creation, its
 * expiry, and its events' being sent again. All answers of that day to its account are looked through.
 */
export const ERASE_KEPT_ANSWERS: Statement = {
  name: undefined,
  text: `
  WITH named AS (
    SELECT id, account_id, livemode FROM payables WHERE id = $1 AND customer_email IS NOT NULL
  ), erased AS (
    UPDATE idempotency_records record SET answer = ${withoutEmail('record.answer')}
    FROM named
    WHERE record.account_id = named.account_id AND record.livemode = named.livemode AND NOT record.sealed
      AND (record.path = '/v1/checkout/sessions' AND starts_with(record.answer, '{"id":"' || named.id || '"')
        OR record.path = '/v1/checkout/sessions/' || named.id || '/expire'
        OR record.path IN (SELECT '/v1/events/' || id || '/resend' FROM events WHERE checkout_session_id = named.id))
    RETURNING 1
  )
  SELECT count(*)::int FROM erased`,
};
