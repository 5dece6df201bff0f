import { hiddenFromPlanner } from '../../db/planner-hints.js';
import type { Statement } from '../../db/statement.js';
import { IS_QUARANTINED, NOT_QUARANTINED, pauseAfter } from '../../upkeep/statements/work-in-flight.sql.js';

/** Ends a try and its lease. The worker did not crash on the delivery, so its crashes are counted from zero again. */
export const TRY_ENDED = 'leased_until = NULL, lost_takes = 0, tries = tries + 1';

/**
 * A delivery's history with the entry of a try. The answer is left out when the delivery's answers were removed during the
 * try, by an erasure: the receiver may have repeated what was erased.
 */
export const historyWith = (entry: string): string =>
  `history || CASE WHEN answers_removed THEN jsonb_set(${entry}, '{answer}', 'null') ELSE ${entry} END`;

/** A condition of an endpoint: deliveries of others are held, or wait until they are dropped. */
export const takesDeliveries = (endpoint: string): string =>
  `${endpoint}.status = 'enabled' AND ${endpoint}.deleted_at IS NULL AND ${endpoint}.unreadable_since IS NULL`;

/**
 * The host as the URL spells it. One host may have many names; the slots of the account limit all of them together.
 */
export const hostOf = (url: string): string => `substring(lower(${url}) FROM '^https?://([^/?#]*)')`;

/** The secrets that sign at time `at`, newest first. */
export const sealedSecrets = (at: string): string => `array_remove(ARRAY[endpoint.sealed_secret,
      CASE WHEN endpoint.previous_signs_until > ${at} THEN endpoint.previous_sealed_secret END], NULL)`;

/**
 * Locks at most $3 enabled endpoints of an account that have due deliveries and a free slot: hosts with few deliveries in
 * flight first, and endpoints of a host likewise. The locks are taken in the order of ids, so that two workers cannot
 * deadlock. Always returns a row, since each row also has the number of endpoints with due deliveries. Their secrets are the
 * secrets that sign at $6.
 */
export const CHOOSE: Statement = {
  name: 'choose-due-endpoints',
  text: `
  WITH due AS MATERIALIZED (
    SELECT endpoint.id, ${hostOf('endpoint.url')} AS host, earliest.due_at, in_flight.count,
      in_flight.count < CASE WHEN endpoint.failing_since IS NULL THEN endpoint.places ELSE $5::int END AS has_slot
    FROM webhook_endpoints endpoint
    CROSS JOIN LATERAL (
      SELECT due_at FROM webhook_deliveries
      WHERE endpoint_id = endpoint.id AND due_at <= ${hiddenFromPlanner('$2::timestamptz')} AND ${NOT_QUARANTINED}
      ORDER BY due_at LIMIT 1
    ) earliest
    CROSS JOIN LATERAL (
      SELECT count(*) FROM webhook_deliveries
      WHERE endpoint_id = endpoint.id AND leased_until > ${hiddenFromPlanner('$2::timestamptz')}
    ) in_flight
    WHERE endpoint.account_id = ${hiddenFromPlanner('$1::text')} AND ${takesDeliveries('endpoint')}
  ), in_turn AS (
    SELECT id, host, due_at, has_slot, sum(count) OVER (PARTITION BY host)
      + row_number() OVER (PARTITION BY host ORDER BY has_slot DESC, count, due_at) AS turn
    FROM due
  ), chosen AS (
    SELECT id, host, turn FROM in_turn WHERE has_slot AND host <> ALL ($4::text[]) ORDER BY turn, due_at LIMIT $3
  ), locked AS (
    SELECT endpoint.id, endpoint.url, ${sealedSecrets('$6::timestamptz')} AS sealed_secrets, endpoint.failing_since, endpoint.places AS slots,
      endpoint.status, endpoint.deleted_at, chosen.host, chosen.turn
    FROM chosen JOIN webhook_endpoints endpoint ON endpoint.id = chosen.id
    ORDER BY endpoint.id FOR NO KEY UPDATE OF endpoint
  )
  SELECT total.due, locked.id, locked.url, locked.host, locked.sealed_secrets AS "sealedSecrets",
    locked.failing_since AS "failingSince", locked.slots, locked.status, locked.deleted_at AS "deletedAt"
  FROM (SELECT count(*)::int AS due FROM due) total LEFT JOIN locked ON true ORDER BY locked.turn`,
};

/** An endpoint gives this part of its slots to its newest due deliveries, so that fresh events do not wait behind a backlog. */
const NEWEST_SHARE = 0.2;

/** Skips rows that another transaction has locked. The lock checks the condition again on the current row. */
const dueInOrder = (order: 'due_at' | 'due_at DESC', limit: string, condition: string): string => `
      SELECT id, endpoint_id, event_id, due_at FROM webhook_deliveries
      WHERE endpoint_id = shares.endpoint_id AND due_at <= ${hiddenFromPlanner('$1::timestamptz')} AND ${NOT_QUARANTINED} AND ${condition}
      ORDER BY ${order} LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED`;

/**
 * The length of an event's object. Postgres decompresses an object to measure it, some milliseconds for 2 MiB, so the objects
 * of deliveries that are not taken should not be measured.
 */
export const bytesOf = (eventId: string): string =>
  `(SELECT octet_length(object::text) FROM events WHERE id = ${eventId})`;

/**
 * Locks deliveries due at $1: for each endpoint as many as it has slots in `free`, each with its turn. Most are
 * the longest due ones. A single slot goes to the newest at random, since no worker remembers who had the slots before.
 */
export const DUE_INTO_FREE = `
  shares AS MATERIALIZED (
    SELECT endpoint_id, slots, floor(slots * ${NEWEST_SHARE} + random()) AS of_newest FROM free
  ), newest AS MATERIALIZED (
    SELECT due.* FROM shares CROSS JOIN LATERAL (${dueInOrder('due_at DESC', 'shares.of_newest', 'true')}
    ) due
  ), longest_due AS MATERIALIZED (
    SELECT due.* FROM shares CROSS JOIN LATERAL (${dueInOrder('due_at', 'shares.slots - shares.of_newest', 'id NOT IN (SELECT id FROM newest)')}
    ) due
  ), due AS (
    SELECT id, endpoint_id, event_id, row_number() OVER (PARTITION BY endpoint_id ORDER BY is_newest DESC, due_at) AS turn
    FROM (
      SELECT *, true AS is_newest FROM newest
      UNION ALL
      SELECT *, false FROM longest_due
    ) either
  )`;

/** Leases the deliveries in `fitting` until $2. After the lease of a worker that crashed, each crash delays the delivery more. */
export const TAKE_FITTING = `
  taken AS (
    UPDATE webhook_deliveries delivery
    SET attempt = delivery.attempt + 1, lost_takes = delivery.lost_takes + 1,
      due_at = $2::timestamptz + ${pauseAfter('delivery.lost_takes')}, leased_until = $2
    FROM events event
    WHERE delivery.id = ANY (ARRAY(SELECT id FROM fitting)) AND event.id = delivery.event_id
    RETURNING delivery.id, delivery.attempt, delivery.tries, delivery.endpoint_id, event.id AS event_id,
      event.payable_id, event.livemode, event.type, event.object::text AS object_text
  )`;

export const TAKEN_COLUMNS = `
  taken.id, taken.attempt, taken.tries, taken.event_id AS "eventId", taken.payable_id AS "payableId", taken.livemode, taken.type,
  taken.object_text AS "objectText"`;

/**
 * Takes deliveries of the endpoints $3: at most the $4 slots that were dealt to each, at most $5 in flight to each, at most
 * $6 slots in all.
 */
export const TAKE: Statement = {
  name: 'take-due-deliveries',
  text: `
  WITH RECURSIVE free AS (
    SELECT dealt.endpoint_id, greatest(0, least(dealt.slots, dealt.most - in_flight.count)) AS slots,
      dealt.most - in_flight.count > dealt.slots AS could_have_more
    FROM unnest(${hiddenFromPlanner('$3::text[]')}, ${hiddenFromPlanner('$4::int[]')}, ${hiddenFromPlanner('$5::int[]')})
      AS dealt (endpoint_id, slots, most)
    CROSS JOIN LATERAL (
      SELECT count(*)::int FROM webhook_deliveries WHERE endpoint_id = dealt.endpoint_id AND leased_until > $1
    ) in_flight
  ), ${DUE_INTO_FREE}, in_turn AS MATERIALIZED (
    SELECT id, event_id, row_number() OVER (ORDER BY turn, endpoint_id) AS number FROM due
  ), added AS (
    -- The last delivery may take more slots than are left. Otherwise a body larger than all slots would wait for ever.
    SELECT 0::bigint AS number, 0::float AS slots
    UNION ALL
    SELECT next.number, added.slots + greatest(1, ceil(${bytesOf('next.event_id')}::float / $7::int))
    FROM added JOIN in_turn next ON next.number = added.number + 1 WHERE added.slots < $6::int
  ), fitting AS (
    SELECT id FROM in_turn JOIN added USING (number)
  ), ${TAKE_FITTING}
  SELECT free.endpoint_id AS "endpointId", free.slots AS free, free.could_have_more AS "couldHaveMore",
    (SELECT count(*) FROM due) > (SELECT count(*) FROM fitting) AS "isCut", ${TAKEN_COLUMNS}
  FROM free LEFT JOIN taken ON taken.endpoint_id = free.endpoint_id`,
};

/** The endpoint of the delivery $1, with the secrets that sign at $2. */
export const LOCK_ENDPOINT_OF: Statement = {
  name: 'lock-endpoint-of-delivery',
  text: `
  SELECT endpoint.id, endpoint.account_id AS "accountId", endpoint.url, ${hostOf('endpoint.url')} AS host,
    ${sealedSecrets('$2::timestamptz')} AS "sealedSecrets", endpoint.failing_since AS "failingSince", endpoint.places AS slots,
    endpoint.status, endpoint.deleted_at AS "deletedAt"
  FROM webhook_endpoints endpoint
  WHERE endpoint.id = (SELECT endpoint_id FROM webhook_deliveries WHERE id = $1)
  FOR NO KEY UPDATE OF endpoint`,
};

/** Leases the delivery $3 from $1 until $2. */
export const TAKE_QUARANTINED: Statement = {
  name: 'take-quarantined-delivery',
  text: `
  WITH fitting AS (
    SELECT id FROM webhook_deliveries WHERE id = $3 AND ${IS_QUARANTINED} AND due_at <= $1 FOR NO KEY UPDATE SKIP LOCKED
  ), ${TAKE_FITTING}
  SELECT ${TAKEN_COLUMNS} FROM taken`,
};
