import { hiddenFromPlanner } from '../../db/planner-hints.js';
import type { Statement } from '../../db/statement.js';
import {
  bytesOf,
  DUE_INTO_FREE,
  historyWith,
  hostOf,
  sealedSecrets,
  TAKE_FITTING,
  TAKEN_COLUMNS,
  TRY_ENDED,
  takesDeliveries,
} from './take-due.sql.js';

/**
 * Whether a success is written to the endpoint: when the endpoint was failing, or when another try has been in flight for
 * longer than a quick one and may yet fail. Tries that start later do not need it. So quick successes rarely wait for each
 * other's lock on the endpoint's row.
 */
const updatesEndpoint = (endpointId: string, quick: string, others: string): string => `
  (EXISTS (SELECT FROM webhook_endpoints WHERE id = ${endpointId} AND failing_since IS NOT NULL)
    OR coalesce(${quick} > (
      SELECT leased_until FROM webhook_deliveries other
      WHERE other.endpoint_id = ${endpointId} AND ${others} AND leased_until IS NOT NULL
      ORDER BY leased_until LIMIT 1
    ), false))`;

const ENDED = `due_at = NULL, ${TRY_ENDED}`;

export const SUCCEED: Statement = {
  name: 'succeed',
  text: `
  UPDATE webhook_deliveries delivery SET status = $6, ${ENDED}, history = ${historyWith('$3::jsonb')}
  WHERE id = $1 AND attempt = $2 AND status = ANY($5) RETURNING ${updatesEndpoint('delivery.endpoint_id', '$4', 'other.id <> delivery.id')} AS "updatesEndpoint"`,
};

export const SUCCEED_AND_PASS_ON: Statement = {
  name: 'succeed-and-pass-on',
  text: `
  WITH ended AS (
    SELECT delivery.id, delivery.endpoint_id, success.entry, success.bytes
    FROM unnest(${hiddenFromPlanner('$5::text[]')}, ${hiddenFromPlanner('$6::int[]')}, ${hiddenFromPlanner('$7::jsonb[]')}, ${hiddenFromPlanner('$8::int[]')})
      AS success (id, attempt, entry, bytes)
    CROSS JOIN LATERAL (
      -- A leased delivery is pending. With a condition on the status, the planner scans all pending deliveries.
      SELECT id, endpoint_id FROM webhook_deliveries
      WHERE id = success.id AND attempt = success.attempt AND leased_until >= ${hiddenFromPlanner('$3::timestamptz')}
      FOR NO KEY UPDATE SKIP LOCKED
    ) delivery
  ), succeeded AS (
    UPDATE webhook_deliveries delivery SET status = $4, ${ENDED}, history = ${historyWith('ended.entry')}
    FROM ended WHERE delivery.id = ended.id
    RETURNING delivery.id, delivery.endpoint_id, ended.bytes > 0 AS passes_on
  ), endpoint_update AS MATERIALIZED (
    -- Once for each endpoint. The tries in ended need no exclusion, since all of them were quick.
    SELECT ended.endpoint_id, ${updatesEndpoint('ended.endpoint_id', hiddenFromPlanner('$3::timestamptz'), 'true')} AS updates_endpoint
    FROM (SELECT DISTINCT endpoint_id FROM ended) ended
  ), free AS (
    SELECT endpoint.id AS endpoint_id, endpoint.account_id, endpoint.url, ${sealedSecrets('$9::timestamptz')} AS sealed_secrets,
      endpoint.places AS most, count(*) AS slots, min(ended.bytes) AS bytes
    FROM ended JOIN webhook_endpoints endpoint ON endpoint.id = ended.endpoint_id
    WHERE ended.bytes > 0 AND ${takesDeliveries('endpoint')}
      AND endpoint.failing_since IS NULL AND endpoint.places >= (
        SELECT count(*) FROM webhook_deliveries
        WHERE endpoint_id = endpoint.id AND leased_until > ${hiddenFromPlanner('$1::timestamptz')}
      )
    GROUP BY endpoint.id
  ), ${DUE_INTO_FREE}, weighed AS MATERIALIZED (
    SELECT due.id, due.endpoint_id, ${bytesOf('due.event_id')} > free.bytes AS is_heavier
    FROM due JOIN free ON free.endpoint_id = due.endpoint_id
  ), fitting AS (
    SELECT id FROM weighed WHERE NOT is_heavier
  ), ${TAKE_FITTING}, slot AS (
    SELECT *, row_number() OVER (PARTITION BY endpoint_id, passes_on ORDER BY id) AS number FROM succeeded
  ), next AS (
    SELECT *, row_number() OVER (PARTITION BY endpoint_id ORDER BY id) AS number FROM taken
  )
  SELECT slot.id AS "succeededId", endpoint_update.updates_endpoint AS "updatesEndpoint", free.endpoint_id IS NOT NULL AS "isPassedOn",
    free.account_id AS "accountId", free.url, ${hostOf('free.url')} AS host, free.most AS slots,
    free.sealed_secrets AS "sealedSecrets",
    EXISTS (SELECT FROM weighed WHERE weighed.endpoint_id = free.endpoint_id AND is_heavier) AS "leavesHeavier",
    ${TAKEN_COLUMNS}
  FROM slot JOIN endpoint_update ON endpoint_update.endpoint_id = slot.endpoint_id
  LEFT JOIN free ON free.endpoint_id = slot.endpoint_id AND slot.passes_on
  LEFT JOIN next taken ON taken.endpoint_id = free.endpoint_id AND taken.number = slot.number`,
};
