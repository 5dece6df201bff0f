import { now } from '../../clock.js';
import type { Knex } from '../../db/knex.js';
import { runStatement, type Statement } from '../../db/statement.js';
import { writeTogether } from '../../db/write-together.js';
import { DELIVERY_MOVES, type DeliveryTry } from '../../domain/webhook-event.js';
import { WebhookEndpoint } from '../../models/webhook-endpoint.js';
import {
  type Batch,
  hidden,
  leaseFrom,
  type NothingTaken,
  presentTaken,
  TAKE_INTO_FREE,
  TAKEN_COLUMNS,
  type TakenRow,
} from './take-due.js';

/**
 * Writing successes, each while its attempt is the row's. One that was quick passes its place on: the statement that
 * ends its lease gives one to the next that is due to its endpoint. So no more are on their way than before, and
 * nothing is to be counted and nobody waited for; while the endpoint is failing, and counts otherwise, it is left to
 * takeDueDeliveries. Successes of the same moment are written together.
 */
export interface Success {
  id: string;
  attempt: number;
  endpointId: string;
  entry: DeliveryTry;
  /** Its place may go to the next that is due to its endpoint. */
  passesOn: boolean;
}

/** What has been taken in its place; undefined when that is not passed on. */
export async function recordDelivered(db: Knex, success: Success): Promise<Batch | undefined> {
  const { isNews, batch } = await succeed(db, success);
  // Not in the same statement: who holds a delivery does not wait for its endpoint.
  if (isNews) {
    const news = { failingSince: null, succeededAt: now() };
    await WebhookEndpoint.query(db).findById(success.endpointId).patch(news);
  }
  return batch;
}

interface Succeeded {
  isNews: boolean;
  batch: Batch | undefined;
}

const succeed = writeTogether<Success, Succeeded>({
  keyOf: ({ id }) => id,
  together: succeedTogether,
  alone: succeedAlone,
  unclear: (_db, _success, error) => Promise.reject(error),
});

/** Undefined for those that were not quick, no longer theirs, or whose row somebody else holds. */
async function succeedTogether(db: Knex, successes: readonly Success[]): Promise<(Succeeded | undefined)[]> {
  const at = now();
  const rows = await runStatement<SucceededRow>(db, SUCCEED_AND_PASS_ON, [
    at,
    leaseFrom(at),
    quickLease(at),
    DELIVERY_MOVES.succeed.to,
    successes.map(({ id }) => id),
    successes.map(({ attempt }) => attempt),
    successes.map(({ entry }) => JSON.stringify(entry)),
    successes.map(({ passesOn }) => passesOn),
  ]);
  const rowOf = new Map(rows.map((row) => [row.succeededId, row]));
  return successes.map(({ id, endpointId }) => {
    const row = rowOf.get(id);
    return row && { isNews: row.isNews, batch: batchOf(row, endpointId) };
  });
}

async function succeedAlone(db: Knex, { id, attempt, entry }: Success): Promise<Succeeded> {
  const { from, to } = DELIVERY_MOVES.succeed;
  const bindings = [id, attempt, JSON.stringify(entry), quickLease(now()), from, to];
  const [row] = await runStatement<{ isNews: boolean }>(db, SUCCEED, bindings);
  return { isNews: row?.isNews ?? false, batch: undefined };
}

type SucceededRow = { succeededId: string; isNews: boolean } & PlaceOf & (TakenRow | NothingTaken);

type PlaceOf = { isPassedOn: false } | { isPassedOn: true; url: string; sealedSecret: string };

function batchOf(row: SucceededRow, endpointId: string): Batch | undefined {
  if (!row.isPassedOn) return undefined;
  const endpoint = { id: endpointId, url: row.url, sealedSecret: row.sealedSecret, failingSince: null };
  return { endpoint, deliveries: row.id === null ? [] : [presentTaken(row)], isFull: row.id !== null };
}

const QUICK_MS = 1000;

/** What a try that has just been begun is leased for, less what counts as quick. */
function quickLease(at: Date): Date {
  return new Date(leaseFrom(at).getTime() - QUICK_MS);
}

/**
 * It is news to the endpoint when that was failing, or when a try has been on its way for a while and may yet fail;
 * whoever is tried first from now on has nothing to know of it, and many quick successes do not wait for each other.
 */
const isNews = (quick: string): string => `
  (EXISTS (SELECT FROM webhook_endpoints WHERE id = delivery.endpoint_id AND failing_since IS NOT NULL)
    OR coalesce(${quick} > (
      SELECT leased_until FROM webhook_deliveries other
      WHERE other.endpoint_id = delivery.endpoint_id AND other.id <> delivery.id AND leased_until IS NOT NULL
      ORDER BY leased_until LIMIT 1
    ), false))`;

const OVER = 'due_at = NULL, leased_until = NULL, tries = tries + 1';

const SUCCEED: Statement = {
  name: 'succeed',
  text: `
  UPDATE webhook_deliveries delivery SET status = $6, ${OVER}, history = history || $3::jsonb
  WHERE id = $1 AND attempt = $2 AND status = ANY($5) RETURNING ${isNews('$4')} AS "isNews"`,
};

const SUCCEED_AND_PASS_ON: Statement = {
  name: 'succeed-and-pass-on',
  text: `
  WITH ended AS (
    SELECT delivery.id, delivery.endpoint_id, success.entry, success.passes_on
    FROM unnest(${hidden('$5::text[]')}, ${hidden('$6::int[]')}, ${hidden('$7::jsonb[]')}, ${hidden('$8::boolean[]')})
      AS success (id, attempt, entry, passes_on)
    CROSS JOIN LATERAL (
      -- What is leased is pending; asked by its status, the planner would look through all that is.
      SELECT id, endpoint_id FROM webhook_deliveries
      WHERE id = success.id AND attempt = success.attempt AND leased_until >= ${hidden('$3::timestamptz')}
      FOR NO KEY UPDATE SKIP LOCKED
    ) delivery
  ), succeeded AS (
    UPDATE webhook_deliveries delivery SET status = $4, ${OVER}, history = history || ended.entry
    FROM ended WHERE delivery.id = ended.id
    RETURNING delivery.id, delivery.endpoint_id, ended.passes_on, ${isNews(hidden('$3::timestamptz'))} AS is_news
  ), free AS (
    SELECT endpoint.id AS endpoint_id, endpoint.url, endpoint.sealed_secret, count(*) AS places
    FROM ended JOIN webhook_endpoints endpoint ON endpoint.id = ended.endpoint_id
    WHERE ended.passes_on AND endpoint.status = 'enabled' AND endpoint.deleted_at IS NULL
      AND endpoint.failing_since IS NULL
    GROUP BY endpoint.id
  ), ${TAKE_INTO_FREE}, place AS (
    SELECT *, row_number() OVER (PARTITION BY endpoint_id, passes_on ORDER BY id) AS number FROM succeeded
  ), next AS (
    SELECT *, row_number() OVER (PARTITION BY endpoint_id ORDER BY id) AS number FROM taken
  )
  SELECT place.id AS "succeededId", place.is_news AS "isNews", free.endpoint_id IS NOT NULL AS "isPassedOn",
    free.url, free.sealed_secret AS "sealedSecret", ${TAKEN_COLUMNS}
  FROM place
  LEFT JOIN free ON free.endpoint_id = place.endpoint_id AND place.passes_on
  LEFT JOIN next taken ON taken.endpoint_id = free.endpoint_id AND taken.number = place.number`,
};
