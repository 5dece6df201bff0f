import { BYTES_OF_SESSION, sessionAsJson } from '../../checkout-sessions/statements/as-json.sql.js';
import type { Statement } from '../../db/statement.js';
import { PAYABLE_MOVES } from '../../payables/states.js';
import { canceledRefundAsJson, IS_REFUND } from '../../refunds/statements/as-json.sql.js';
import { inFlight, isQuarantined } from '../../upkeep/statements/work-in-flight.sql.js';
import type { EventType } from '../../webhooks/event-types.js';
import { fanOut } from '../../webhooks/statements/events.sql.js';

const { to } = PAYABLE_MOVES.expire;
const SESSION_EXPIRED: EventType = 'checkout.session.expired';
const REFUND_UPDATED: EventType = 'refund.updated';
const OVERDUE = `status = 'open' AND expires_at <= $1`;

/** The sessions of an account with more than this part of the oldest rows may hide other accounts'. */
const CROWDING_PART = 20;

const oldestOverdue = (condition: string): string => `
    SELECT id, expires_at, account_id, livemode, ${BYTES_OF_SESSION} AS bytes FROM payables session
    WHERE ${OVERDUE} AND id NOT IN (${inFlight('$4')}) AND NOT ${isQuarantined('$4', 'session.id')} AND ${condition}
    ORDER BY expires_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED`;

/**
 * Returns a row when a session was overdue at $1, late when one was overdue at $2 that is neither in flight nor quarantined. The
 * order makes Postgres read the start of the index, however many rows a backlog has.
 */
export const FIRST_OVERDUE: Statement = {
  name: 'first-overdue-and-late-session',
  text: `
  SELECT expires_at <= $2 AND EXISTS (
    SELECT FROM (
      SELECT FROM payables session
      WHERE status = 'open' AND expires_at <= $2
        AND id NOT IN (${inFlight('$3')}) AND NOT ${isQuarantined('$3', 'session.id')}
      ORDER BY expires_at LIMIT 1
    ) late
  ) AS "isLate"
  FROM payables WHERE ${OVERDUE} ORDER BY expires_at LIMIT 1`,
};

/**
 * Takes sessions and refunds that were overdue at $1, and writes $5 as the time: at most $2 rows whose events fit into $3
 * bytes and $6 deliveries, at least one row. Accounts take turns. When a few accounts have most of the oldest rows, the
 * oldest rows of the other accounts are candidates too.
 */
export const TAKE_OVERDUE: Statement = {
  name: 'take-overdue-sessions',
  text: `
  WITH oldest AS MATERIALIZED (${oldestOverdue('true')}
  ), crowding AS MATERIALIZED (
    SELECT account_id FROM oldest GROUP BY account_id HAVING count(*) > $2 / ${CROWDING_PART}
  ), others AS MATERIALIZED (${oldestOverdue(`EXISTS (SELECT FROM crowding) AND account_id <> ALL (ARRAY(SELECT account_id FROM crowding))`)}
  ), overdue AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY account_id ORDER BY expires_at, id) AS turn
    FROM (SELECT * FROM oldest UNION SELECT * FROM others) found
  ), receivers AS MATERIALIZED (
    SELECT asked.*, endpoint.count FROM (SELECT DISTINCT account_id, livemode FROM overdue) asked
    CROSS JOIN LATERAL (
      SELECT count(*) FROM webhook_endpoints
      WHERE account_id = asked.account_id AND livemode = asked.livemode AND deleted_at IS NULL AND status = 'enabled'
      OFFSET 0
    ) endpoint
  ), weighed AS (
    SELECT id, row_number() OVER in_turn AS number, sum(bytes) OVER in_turn - bytes AS before,
      sum(count) OVER in_turn - count AS deliveries_before
    FROM overdue JOIN receivers USING (account_id, livemode)
    WINDOW in_turn AS (ORDER BY turn, expires_at, id ROWS UNBOUNDED PRECEDING)
  )
  INSERT INTO work_in_hand (work, ids, taken_at)
  SELECT $4, array_agg(id), $5 FROM weighed
  WHERE number <= $2 AND before < $3 AND deliveries_before < $6 HAVING count(*) > 0
  RETURNING id, ids`,
};

/**
 * Expires the batch in flight $1, unless another worker has taken it since; $3 has the ids of the events. Postgres renders
 * the events, so large sessions never pass through the worker.
 */
export const EXPIRE_IN_FLIGHT: Statement = {
  name: 'expire-sessions-in-flight',
  text: `
  WITH finished AS (
    DELETE FROM work_in_hand WHERE id = $1 RETURNING work, ids
  ), batch AS MATERIALIZED (
    SELECT work, unnest(ids) AS id FROM finished
  ), free AS MATERIALIZED (
    SELECT id FROM payables
    WHERE id = ANY (ARRAY(SELECT id FROM batch)) AND status = ANY ($4) FOR NO KEY UPDATE SKIP LOCKED
  ), forgotten AS (
    -- Keeps the crash counts of rows that another transaction has locked.
    DELETE FROM crashed_work crashed USING batch
    WHERE crashed.work = batch.work AND crashed.id = batch.id AND NOT EXISTS (
      SELECT FROM payables
      WHERE id = batch.id AND status = ANY ($4) AND id NOT IN (SELECT id FROM free)
    )
  ), expired AS (
    UPDATE payables session SET status = '${to}'
    WHERE id = ANY (ARRAY(SELECT id FROM free)) AND status = ANY ($4)
    RETURNING id, account_id, livemode,
      CASE WHEN ${IS_REFUND} THEN '${REFUND_UPDATED}' ELSE '${SESSION_EXPIRED}' END AS type,
      CASE WHEN ${IS_REFUND} THEN ${canceledRefundAsJson()}
        ELSE ${sessionAsJson({ status: to, paymentStatus: 'unpaid', payment: null })} END AS object
  ), written AS (
    INSERT INTO events (id, account_id, livemode, type, payable_id, object)
    SELECT ($3::text[])[row_number() OVER ()], account_id, livemode, type, id, object FROM expired
    RETURNING id, account_id, livemode, type
  ), delivery AS (${fanOut('$2')}
  )
  SELECT (SELECT count(*)::int FROM written) AS count, (SELECT max(id) FROM written) AS "lastEventId",
    ARRAY(SELECT DISTINCT written.account_id FROM delivery JOIN written ON written.id = delivery."eventId") AS "accountIds"`,
};
