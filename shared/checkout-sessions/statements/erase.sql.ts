import type { Statement } from '../../db/statement.js';
import { PERSONAL_FIELDS } from '../../session-fields/fields.js';
import { withinByteBudget } from '../../upkeep/statements/retention.sql.js';
import { BYTES_OF_SESSION } from './as-json.sql.js';

const COLUMNS = PERSONAL_FIELDS.map(({ name }) => name);
const anyOf = (condition: (name: string) => string): string => `(${COLUMNS.map(condition).join(' OR ')})`;
const HAS_PERSONAL_DATA = anyOf((name) => `${name} IS NOT NULL`);

/** The predicate of the index `payables_with_email`. Another personal field needs another index. */
const OVER_WITH_PERSONAL_DATA = `${HAS_PERSONAL_DATA} AND status IN ('complete', 'expired')`;

/** Locks sessions that expired before $1 and still have personal data: at most $2, of at most $3 bytes together. */
export const LOCK_OLD_SESSIONS: Statement = {
  text: withinByteBudget(
    'id',
    `SELECT id, ${BYTES_OF_SESSION} AS bytes FROM payables session WHERE ${OVER_WITH_PERSONAL_DATA} AND expires_at < $1
     ORDER BY expires_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED`,
  ),
};

/**
 * Sets the personal fields in the text of a session to null and keeps every other byte. The first match is the field
 * itself: a merchant's own key of that name is in metadata, which comes later on the wire, and quotes within strings are
 * escaped. A text without a value of the field stays as it is, since there the first match may be such a key.
 */
const withoutPersonal = (text: string, hasValue: (name: string) => string): string =>
  COLUMNS.reduce(
    (rest, name) =>
      String.raw`regexp_replace(${rest}, '"${name}"\s*:\s*"(\\.|[^"\\])*"', CASE WHEN ${hasValue(name)} THEN '"${name}":null' ELSE '\&' END)`,
    text,
  );

const inEvent = (name: string): string => `object ->> '${name}' IS NOT NULL`;

/** Locks the events of the sessions $1. A transaction that sends one of them again ends before, or waits for the erasure. */
export const LOCK_EVENTS: Statement = {
  text: 'SELECT FROM events WHERE payable_id = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE',
};

const HAS_ANSWER = "history @? '$[*].answer ? (@ != null)'";

/**
 * Erases the sessions $1, whose rows and events are locked. The receivers' answers are removed too: they may repeat the event's
 * body. So may the answer to a try in flight, and any pending delivery may be in flight: none of them keeps an answer from now on.
 */
export const ERASE: Statement = {
  text: `
  WITH erased_events AS (
    UPDATE events SET object = ${withoutPersonal('object::text', inEvent)}::json
    WHERE payable_id = ANY ($1::text[]) AND ${anyOf(inEvent)}
    RETURNING 1
  ), held AS MATERIALIZED (
    SELECT delivery.id, delivery.${HAS_ANSWER} AS has_answer
    FROM events event JOIN webhook_deliveries delivery ON delivery.event_id = event.id
    WHERE event.payable_id = ANY ($1)
      AND (delivery.${HAS_ANSWER} OR delivery.status = 'pending' AND NOT delivery.answers_removed)
    ORDER BY delivery.id FOR NO KEY UPDATE OF delivery
  ), erased_deliveries AS (
    UPDATE webhook_deliveries SET answers_removed = true, history = (
      SELECT coalesce(jsonb_agg(jsonb_set(entry, '{answer}', 'null')), '[]') FROM jsonb_array_elements(history) entry)
    WHERE id = ANY (ARRAY(SELECT id FROM held))
  ), erased_sessions AS (
    UPDATE payables SET ${COLUMNS.map((name) => `${name} = NULL`).join(', ')} WHERE id = ANY ($1) AND ${HAS_PERSONAL_DATA}
    RETURNING 1
  )
  SELECT (SELECT count(*)::int FROM erased_sessions) AS sessions, (SELECT count(*)::int FROM erased_events) AS events,
    (SELECT count(*)::int FROM held WHERE has_answer) AS "deliveryAnswers"`,
};

/**
 * Erases the session $1 from the answers kept for Idempotency-Keys: those to its creation, its expiry and the resending of
 * its events. Scans all kept answers of its account. Runs before ERASE, which sets the columns to null.
 */
export const ERASE_KEPT_ANSWERS: Statement = {
  text: `
  WITH session AS (
    SELECT id, account_id, livemode, ${COLUMNS.join(', ')} FROM payables WHERE id = $1 AND ${HAS_PERSONAL_DATA}
  ), erased AS (
    UPDATE idempotency_records record SET answer = ${withoutPersonal('record.answer', (name) => `session.${name} IS NOT NULL`)}
    FROM session
    WHERE record.account_id = session.account_id AND record.livemode = session.livemode AND NOT record.sealed
      AND (record.path = '/v1/checkout/sessions' AND starts_with(record.answer, '{"id":"' || session.id || '"')
        OR record.path = '/v1/checkout/sessions/' || session.id || '/expire'
        OR record.path IN (SELECT '/v1/events/' || id || '/resend' FROM events WHERE payable_id = session.id))
    RETURNING 1
  )
  SELECT count(*)::int FROM erased`,
};
