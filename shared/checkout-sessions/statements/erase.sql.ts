import type { Statement } from '../../db/statement.js';
import { PERSONAL_FIELDS } from '../../session-fields/fields.js';
import { withinByteBudget } from '../../upkeep/statements/retention.sql.js';
import { BYTES_OF_SESSION } from './as-json.sql.js';

const NAMES = PERSONAL_FIELDS.map(({ name }) => name);
const anyOf = (condition: (name: string) => string): string => `(${NAMES.map(condition).join(' OR ')})`;
const IS_NAMED = anyOf((name) => `${name} IS NOT NULL`);

/** The predicate of the index `payables_with_email`. Another personal field needs another index. */
const OVER_AND_NAMED = `${IS_NAMED} AND status IN ('complete', 'expired')`;

/** Sessions that expired before $1: at most $2, and at most $3 bytes of them. */
export const TAKE_NAMED: Statement = {
  name: undefined,
  text: withinByteBudget(
    'id',
    `SELECT id, ${BYTES_OF_SESSION} AS bytes FROM payables session WHERE ${OVER_AND_NAMED} AND expires_at < $1
     ORDER BY expires_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED`,
  ),
};

/**
 * Sets the personal fields in the text of a session to null and keeps every other byte. The first match is the field
 * itself: a merchant's own key of that name is in metadata, which comes later on the wire, and quotes within strings are
 * escaped. A text without a value of the field stays as it is, since there the first match may be such a key.
 */
const withoutPersonal = (text: string, hasValue: (name: string) => string): string =>
  NAMES.reduce(
    (rest, name) =>
      String.raw`regexp_replace(${rest}, '"${name}"\s*:\s*"(\\.|[^"\\])*"', CASE WHEN ${hasValue(name)} THEN '"${name}":null' ELSE '\&' END)`,
    text,
  );

const inEvent = (name: string): string => `object ->> '${name}' IS NOT NULL`;

/** Erases the sessions $1, whose rows are locked. A receiver's answer is removed too: it may repeat what it was sent. */
export const ERASE: Statement = {
  name: undefined,
  text: `
  WITH told AS (
    UPDATE events SET object = ${withoutPersonal('object::text', inEvent)}::json
    WHERE checkout_session_id = ANY ($1::text[]) AND ${anyOf(inEvent)}
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
    UPDATE payables SET ${NAMES.map((name) => `${name} = NULL`).join(', ')} WHERE id = ANY ($1) AND ${IS_NAMED}
    RETURNING 1
  )
  SELECT (SELECT count(*)::int FROM named) AS sessions, (SELECT count(*)::int FROM told) AS events,
    (SELECT count(*)::int FROM answered) AS "deliveryAnswers"`,
};

/**
 * Erases the session $1 in the answers that are kept for a day for Idempotency-Keys: to its creation, its expiry, and the
 * resending of its events. Scans all kept answers of its account. Runs before ERASE, which sets the columns to null.
 */
export const ERASE_KEPT_ANSWERS: Statement = {
  name: undefined,
  text: `
  WITH named AS (
    SELECT id, account_id, livemode, ${NAMES.join(', ')} FROM payables WHERE id = $1 AND ${IS_NAMED}
  ), erased AS (
    UPDATE idempotency_records record SET answer = ${withoutPersonal('record.answer', (name) => `named.${name} IS NOT NULL`)}
    FROM named
    WHERE record.account_id = named.account_id AND record.livemode = named.livemode AND NOT record.sealed
      AND (record.path = '/v1/checkout/sessions' AND starts_with(record.answer, '{"id":"' || named.id || '"')
        OR record.path = '/v1/checkout/sessions/' || named.id || '/expire'
        OR record.path IN (SELECT '/v1/events/' || id || '/resend' FROM events WHERE checkout_session_id = named.id))
    RETURNING 1
  )
  SELECT count(*)::int FROM erased`,
};
