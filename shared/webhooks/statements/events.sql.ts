import type { Statement } from '../../db/statement.js';

/** The end of a delivery's id: its place among the rows of the statement, so that ids increase, and 102 random bits. */
export const idEnd = (order = ''): string =>
  `lpad(to_hex(row_number() OVER (${order})), 5, '0') || substr(replace(gen_random_uuid()::text, '-', ''), 6)`;

/** A condition of an endpoint: it gets the events of this type now. */
export const subscribesTo = (type: string, endpoint: string): string =>
  `${endpoint}.status = 'enabled' AND ${endpoint}.deleted_at IS NULL AND ${endpoint}.enabled_events && ARRAY[${type}, '*']`;

/** Inserts the deliveries of the events in `written`. A delivery's id starts with its event's time and count, to sort like it. */
export function fanOut(dueAt: string): string {
  return `
  INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, due_at)
  SELECT 'wd_' || substr(written.id, 5, 11) || ${idEnd()},
    written.id, endpoint.id, 'pending', ${dueAt}
  FROM written
  -- OFFSET 0 makes Postgres look up the endpoints event by event. Otherwise the planner, which expects a hundred events,
  -- reads the endpoints of all accounts.
  CROSS JOIN LATERAL (
    SELECT id FROM webhook_endpoints endpoint
    WHERE account_id = written.account_id AND livemode = written.livemode AND ${subscribesTo('written.type', 'endpoint')}
    OFFSET 0
  ) endpoint
  RETURNING event_id AS "eventId", endpoint_id AS "endpointId"`;
}

/** Returns the accounts with new deliveries, not the deliveries: a batch may write very many of them. */
export const WRITE_AND_FAN_OUT: Statement = {
  name: 'write-and-fan-out',
  text: `
  WITH written AS (
    INSERT INTO events (id, account_id, livemode, type, payable_id, object)
    SELECT id, account_id, livemode, $2, payable_id, object
    FROM json_to_recordset($1::json)
      AS new (id text, account_id text, livemode boolean, payable_id text, object json)
    RETURNING id, account_id, livemode, type
  ), delivery AS (${fanOut('$3')}
  )
  SELECT DISTINCT written.account_id AS "accountId" FROM delivery JOIN written ON written.id = delivery."eventId"`,
};

/** Holds off an erasure of the event $1 until the transaction ends, and waits for one that is under way. */
export const SHARE_EVENT: Statement = {
  name: 'share-event',
  text: 'SELECT FROM events WHERE id = $1 FOR SHARE',
};

/**
 * Deliveries of the event $1, of the account $2 in the mode $3 and of the type $4, due at $5, to the endpoint $6 or, when
 * that is null, to every enabled endpoint that subscribes to the type now. Their ids start with $7.
 */
export const RESEND: Statement = {
  name: 'resend-event',
  text: `
  INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, due_at)
  SELECT $7 || ${idEnd()}, $1, id, 'pending', $5
  FROM webhook_endpoints
  WHERE account_id = $2 AND livemode = $3 AND deleted_at IS NULL AND status = 'enabled'
    AND (id = $6::text OR ($6::text IS NULL AND enabled_events && ARRAY[$4, '*']))
  RETURNING id AS "deliveryId", endpoint_id AS "endpointId"`,
};

/** An array of the ids of the session and of its payments' refunds. Postgres makes it once, and looks each id up. */
export const WITH_REFUNDS = (sessionId: string): string => `ARRAY(
  SELECT ${sessionId}::text
  UNION ALL
  SELECT refund.id FROM payments payment JOIN refunds refund ON refund.refunded_payment_id = payment.id
  WHERE payment.payable_id = ${sessionId})`;

export const TRACE_OF_EVENT: Statement = {
  name: 'trace-of-event',
  text: `
  SELECT payment.trace FROM events event
  JOIN payables payable ON payable.id = event.payable_id
  JOIN payments payment ON payment.id = payable.payment_id
  WHERE event.id = $1`,
};
