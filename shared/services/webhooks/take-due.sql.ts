import type { Statement } from '../../db/statement.js';

export const LOCK: Statement = {
  name: 'lock-endpoint',
  text: `
  SELECT id, url, sealed_secret AS "sealedSecret", failing_since AS "failingSince", status, deleted_at AS "deletedAt"
  FROM webhook_endpoints WHERE id = $1 FOR NO KEY UPDATE`,
};

/** The planner keeps one plan for values that it does not see; else it would plan anew each time, for longer than it works. */
export const unseenByPlanner = (value: string): string => `(SELECT ${value})`;

/** What is due at $1 is leased until $2: as many as `free` has places for each endpoint. */
export const TAKE_INTO_FREE = `
  due AS (
    SELECT due.id FROM free CROSS JOIN LATERAL (
      -- A row that somebody else is writing to is left, and one that was written just now is asked again.
      SELECT id FROM webhook_deliveries WHERE endpoint_id = free.endpoint_id AND due_at <= ${unseenByPlanner('$1::timestamptz')}
      ORDER BY due_at LIMIT free.places FOR NO KEY UPDATE SKIP LOCKED
    ) due
  ), taken AS (
    UPDATE webhook_deliveries delivery
    SET attempt = delivery.attempt + 1, due_at = $2, leased_until = $2
    FROM events event
    WHERE delivery.id = ANY (ARRAY(SELECT id FROM due)) AND event.id = delivery.event_id
    RETURNING delivery.id, delivery.attempt, delivery.tries, delivery.endpoint_id, event.id AS event_id,
      event.livemode, event.type, event.object::text AS object_text
  )`;

export const TAKEN_COLUMNS = `
  taken.id, taken.attempt, taken.tries, taken.event_id AS "eventId", taken.livemode, taken.type,
  taken.object_text AS "objectText"`;

export const TAKE: Statement = {
  name: 'take-due-deliveries',
  text: `
  WITH free AS (
    SELECT $3::text AS endpoint_id, greatest(0, least($4::int, $5::int - count(*)::int)) AS places
    FROM webhook_deliveries WHERE endpoint_id = $3 AND leased_until > $1
  ), ${TAKE_INTO_FREE}
  SELECT free.places AS free, ${TAKEN_COLUMNS} FROM free LEFT JOIN taken ON true`,
};

const EARLIEST_OF_NEXT_ENDPOINT = (after: string): string => `
  SELECT endpoint_id, due_at FROM webhook_deliveries
  WHERE due_at IS NOT NULL AND endpoint_id > ${after} ORDER BY endpoint_id, due_at LIMIT 1`;

export const STEP_FROM_ENDPOINT_TO_ENDPOINT: Statement = {
  name: 'step-from-endpoint-to-endpoint',
  text: `
  WITH RECURSIVE step AS (
    (${EARLIEST_OF_NEXT_ENDPOINT('$1::text')})
    UNION ALL
    SELECT next.* FROM step, LATERAL (${EARLIEST_OF_NEXT_ENDPOINT('step.endpoint_id')}) next
  )
  SELECT endpoint_id AS "endpointId", due_at <= $3 AS "isDue" FROM step LIMIT $2`,
};
