import type { Statement } from '../../db/statement.js';

/**
 * The next $6 events after id $1 and below id $2, of account $3 and mode $4 and type $5 where these are given. Not prepared,
 * so that Postgres plans it for the values: the account's index when there is an account, else the primary key.
 */
export const EVENTS_BY_TIME: Statement = {
  name: undefined,
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

/** The enabled endpoints, or only endpoint $2, that subscribe now to the types of the events $1. */
export const RECEIVERS_OF_EVENTS: Statement = {
  name: undefined,
  text: `
    SELECT event.id AS "eventId", endpoint.id AS "endpointId"
    FROM unnest($1::text[]) AS asked (id)
    CROSS JOIN LATERAL (SELECT * FROM events WHERE id = asked.id OFFSET 0) event
    JOIN webhook_endpoints endpoint ON endpoint.account_id = event.account_id AND endpoint.livemode = event.livemode
    WHERE endpoint.status = 'enabled' AND endpoint.deleted_at IS NULL
      AND endpoint.enabled_events && ARRAY[event.type, '*'] AND ($2::text IS NULL OR endpoint.id = $2)
    ORDER BY event.id, endpoint.id`,
};
