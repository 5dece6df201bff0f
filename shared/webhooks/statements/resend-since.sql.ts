import type { Statement } from '../../db/statement.js';
import { idEnd, subscribesTo } from './events.sql.js';

/**
 * The next $6 events after id $1 and below id $2, of account $3 and mode $4 and type $5 where these are given. Not prepared,
 * so that Postgres plans it for the values: the account's index when there is an account, else the primary key.
 */
export const EVENTS_BY_TIME: Statement = {
  text: `
    SELECT id FROM (
      SELECT id FROM events
      WHERE $3::text IS NULL AND id > $1 AND id < $2 AND ($5::text IS NULL OR type = $5)
      ORDER BY id LIMIT $6
    ) of_all
    UNION ALL
    SELECT id FROM (
      SELECT own.id
      FROM unnest(ARRAY[true, false]) AS mode (livemode)
      CROSS JOIN LATERAL (
        SELECT id FROM events
        WHERE account_id = $3 AND livemode = mode.livemode AND id > $1 AND id < $2 AND ($5::text IS NULL OR type = $5)
        ORDER BY id LIMIT $6
      ) own
      WHERE $3::text IS NOT NULL AND ($4::boolean IS NULL OR mode.livemode = $4)
      ORDER BY own.id LIMIT $6
    ) of_account
    ORDER BY id`,
};

const events = (lock = ''): string => `
    FROM unnest($1::text[]) AS asked (id)
    CROSS JOIN LATERAL (SELECT * FROM events WHERE id = asked.id OFFSET 0 ${lock}) event`;

/** The enabled endpoints, or only endpoint $2, that subscribe now to the event's type. */
const IS_RECEIVER = `endpoint.account_id = event.account_id AND endpoint.livemode = event.livemode
      AND ${subscribesTo('event.type', 'endpoint')} AND ($2::text IS NULL OR endpoint.id = $2)`;

/** The events $1 in the order of their ids, each with the number of endpoints that receive it now. */
export const COUNT_RECEIVERS: Statement = {
  text: `
    SELECT event.id, count(endpoint.id)::int AS receivers ${events()}
    LEFT JOIN webhook_endpoints endpoint ON ${IS_RECEIVER}
    GROUP BY event.id ORDER BY event.id`,
};

/**
 * A delivery of each of the events $1 for each of its receivers, due at $3. $4: what their ids start with. The lock waits for an
 * erasure of an event, and holds one off.
 */
export const RESEND_EVENTS: Statement = {
  text: `
    WITH written AS (
      INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, due_at)
      SELECT $4 || ${idEnd('ORDER BY event.id, endpoint.id')}, event.id, endpoint.id, 'pending', $3 ${events('FOR SHARE')}
      JOIN webhook_endpoints endpoint ON ${IS_RECEIVER}
      RETURNING 1
    )
    SELECT count(*)::int AS deliveries FROM written`,
};
