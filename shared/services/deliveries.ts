import { type QueryBuilder, raw } from 'objection';
import { now } from '../clock.js';
import type { Knex } from '../db/knex.js';
import {
  DELIVERY_MOVES,
  type DeliveryTry,
  LEASE_MS,
  MAX_IN_FLIGHT,
  MAX_IN_FLIGHT_WHILE_FAILING,
  MAX_TRIES,
} from '../domain/webhook-event.js';
import type { Logger } from '../logger.js';
import { WebhookDelivery } from '../models/webhook-delivery.js';
import { WebhookEndpoint } from '../models/webhook-endpoint.js';
import { renderEvent, type StoredEvent } from '../presenters/event.js';
import { pauseAfterTryMs } from '../queues/backoff.js';

/**
 * Taking due deliveries of one endpoint, and writing what became of each try. Takers of one endpoint take turns at
 * its row, so that together they never have more on the way than it may have; a lease that has run out counts no
 * more, so a killed worker leaves nothing stuck. A try's outcome is written only while its attempt is the row's.
 * Locks are taken in the order endpoint, delivery.
 */
export interface TakenDelivery {
  id: string;
  attempt: number;
  tries: number;
  eventId: string;
  body: string;
}

export interface Batch {
  endpoint: WebhookEndpoint;
  deliveries: TakenDelivery[];
  /** There may be more that is due: every place was taken. */
  isFull: boolean;
}

export async function takeDueDeliveries(
  db: Knex,
  endpointId: string,
  places: number,
): Promise<Batch | undefined> {
  return await db.transaction(async (trx) => {
    const endpoint = await WebhookEndpoint.query(trx).findById(endpointId).forNoKeyUpdate();
    if (endpoint === undefined) return undefined;
    if (endpoint.deletedAt !== null) {
      await dropPending(trx, endpointId);
      return undefined;
    }
    if (endpoint.status === 'disabled') {
      await holdPending(trx, endpointId);
      return undefined;
    }
    const at = now();
    const { rows } = await trx.raw<{ rows: (TakenRow | NothingTaken)[] }>(TAKE, {
      endpoint_id: endpointId,
      at,
      leased_until: new Date(at.getTime() + LEASE_MS),
      places,
      max_in_flight: endpoint.failingSince === null ? MAX_IN_FLIGHT : MAX_IN_FLIGHT_WHILE_FAILING,
    });
    const deliveries = rows.flatMap((row) => (row.id === null ? [] : [presentTaken(row)]));
    return { endpoint, deliveries, isFull: deliveries.length >= (rows[0]?.free ?? 0) };
  });
}

interface TakenRow extends Omit<StoredEvent, 'id'> {
  id: string;
  attempt: number;
  tries: number;
  eventId: string;
  free: number;
}

interface NothingTaken {
  id: null;
  free: number;
}

function presentTaken({ id, attempt, tries, eventId, livemode, type, objectText }: TakenRow): TakenDelivery {
  return { id, attempt, tries, eventId, body: renderEvent({ id: eventId, livemode, type, objectText }) };
}

const TAKE = `
  WITH free AS (
    SELECT greatest(0, least(CAST(:places AS int), CAST(:max_in_flight AS int) - count(*)::int)) AS places
    FROM webhook_deliveries WHERE endpoint_id = :endpoint_id AND leased_until > :at
  ), due AS (
    SELECT id FROM webhook_deliveries WHERE endpoint_id = :endpoint_id AND due_at <= :at
    ORDER BY due_at LIMIT (SELECT places FROM free)
  ), taken AS (
    UPDATE webhook_deliveries delivery
    SET attempt = delivery.attempt + 1, due_at = :leased_until, leased_until = :leased_until
    FROM due, events event
    WHERE delivery.id = due.id AND event.id = delivery.event_id
      -- Asked again of the row as it is once its lock is held: its last try may just have been written.
      AND delivery.status = 'pending' AND delivery.due_at <= :at
    RETURNING delivery.id, delivery.attempt, delivery.tries, event.id AS "eventId", event.livemode, event.type,
      event.object::text AS "objectText"
  )
  SELECT free.places AS free, taken.* FROM free LEFT JOIN taken ON true`;

type Tried = Pick<TakenDelivery, 'id' | 'attempt' | 'tries'>;

export async function recordDelivered(
  db: Knex,
  endpointId: string,
  delivery: Tried,
  entry: DeliveryTry,
): Promise<void> {
  const at = now();
  const { rows } = await db.raw<{ rows: { isNews: boolean }[] }>(SUCCEED, {
    ...delivery,
    from: [...DELIVERY_MOVES.succeed.from],
    to: DELIVERY_MOVES.succeed.to,
    entry: JSON.stringify(entry),
    endpoint_id: endpointId,
    quick_are_leased_until: new Date(at.getTime() + LEASE_MS - QUICK_MS),
  });
  // Not in the same statement: who holds a delivery does not wait for its endpoint.
  if (rows[0]?.isNews) {
    await WebhookEndpoint.query(db).findById(endpointId).patch({ failingSince: null, succeededAt: at });
  }
}

const QUICK_MS = 1000;

/**
 * It is news to the endpoint when that was failing, or when a try has been on its way for a while and may yet fail;
 * whoever is tried first from now on has nothing to know of it, and many quick successes do not wait for each other.
 */
const SUCCEED = `
  UPDATE webhook_deliveries
  SET status = :to, due_at = NULL, leased_until = NULL, tries = tries + 1, history = history || CAST(:entry AS jsonb)
  WHERE id = :id AND attempt = :attempt AND status = ANY(:from)
  RETURNING
    EXISTS (SELECT FROM webhook_endpoints WHERE id = :endpoint_id AND failing_since IS NOT NULL)
    OR EXISTS (
      SELECT FROM webhook_deliveries other
      WHERE other.endpoint_id = :endpoint_id AND other.leased_until < :quick_are_leased_until AND other.id <> :id
    ) AS "isNews"`;

/** The time of the next try, or undefined when this was the last. */
export async function recordFailedTry(
  db: Knex,
  logger: Logger,
  endpoint: WebhookEndpoint,
  delivery: Tried,
  entry: DeliveryTry,
): Promise<Date | undefined> {
  if (endpoint.failingSince === null) {
    await WebhookEndpoint.query(db)
      .findById(endpoint.id)
      .patch({ failingSince: new Date(entry.at) })
      .whereNull('failingSince');
  }
  const tries = delivery.tries + 1;
  if (tries >= MAX_TRIES) {
    await giveUp(db, logger, endpoint.id, delivery, entry);
    return undefined;
  }
  const dueAt = new Date(now().getTime() + pauseAfterTryMs(tries));
  const written = await own(db, delivery)
    .patch({ dueAt, leasedUntil: null, ...trySpent(entry) })
    .whereIn('status', ['pending']);
  return written === 1 ? dueAt : undefined;
}

/** Its tries are used up. An endpoint to which nothing succeeded since the first of them is disabled. */
async function giveUp(
  db: Knex,
  logger: Logger,
  endpointId: string,
  delivery: Tried,
  entry: DeliveryTry,
): Promise<void> {
  const { from, to } = DELIVERY_MOVES.giveUp;
  await db.transaction(async (trx) => {
    const endpoint = await WebhookEndpoint.query(trx).findById(endpointId).forNoKeyUpdate().throwIfNotFound();
    const failed = await own(trx, delivery)
      .patch({ ...over(to), ...trySpent(entry) })
      .whereIn('status', from)
      .returning('*')
      .first();
    if (failed === undefined) return;
    logger.error({ event: 'delivery.given_up', delivery: delivery.id, endpoint: endpointId });
    const firstTryAt = new Date(failed.history[0]?.at ?? entry.at);
    const { failingSince, succeededAt, status } = endpoint;
    if (status === 'disabled' || (succeededAt !== null && succeededAt >= firstTryAt)) return;
    await endpoint.$query(trx).patch({ status: 'disabled' });
    await holdPending(trx, endpointId);
    logger.error({ event: 'webhook_endpoint.disabled', endpoint: endpointId, failingSince });
  });
}

/** A try that could not even be begun, through no fault of the receiver: it spends none. */
export async function postponeDelivery(db: Knex, delivery: Tried, dueAt: Date): Promise<void> {
  await own(db, delivery).patch({ dueAt, leasedUntil: null }).whereIn('status', ['pending']);
}

function own(db: Knex, { id, attempt }: Tried) {
  return WebhookDelivery.query(db).where({ id, attempt });
}

function over<S extends WebhookDelivery['status']>(status: S): { status: S; dueAt: null; leasedUntil: null } {
  return { status, dueAt: null, leasedUntil: null };
}

function trySpent(entry: DeliveryTry): { tries: ReturnType<typeof raw>; history: ReturnType<typeof raw> } {
  return { tries: raw('tries + 1'), history: raw('history || ?::jsonb', JSON.stringify(entry)) };
}

/** The endpoint is deleted. */
export async function dropPending(trx: Knex.Transaction, endpointId: string): Promise<void> {
  const { from, to } = DELIVERY_MOVES.drop;
  await WebhookDelivery.query(trx).patch(over(to)).where({ endpointId }).whereIn('status', from);
}

/** The endpoint is disabled. What is on its way is left to end, and is held afterwards. */
export async function holdPending(trx: Knex.Transaction, endpointId: string): Promise<void> {
  await WebhookDelivery.query(trx)
    .patch({ dueAt: null, leasedUntil: null })
    .where({ endpointId })
    .whereNotNull('dueAt')
    .where(isIdle);
}

/** The endpoint is enabled again: what was held is due, and what was on its way when it was disabled and has failed. */
export async function releaseHeld(trx: Knex.Transaction, endpointId: string): Promise<boolean> {
  const released = await WebhookDelivery.query(trx)
    .patch({ dueAt: now() })
    .where({ endpointId, status: 'pending' })
    .where(isIdle);
  return released > 0;
}

function isIdle(query: Pick<QueryBuilder<WebhookDelivery>, 'whereNull'>): void {
  query.whereNull('leasedUntil').orWhere('leasedUntil', '<=', now());
}

export interface EndpointsSeen {
  /** Those that have something due. */
  due: string[];
  /** Where to go on the next time; empty at the end of the round. */
  last: string;
}

/** Steps along the index from endpoint to endpoint, so that a thousand deliveries due to one hide no other. */
export async function findDueEndpoints(db: Knex, after: string, limit: number): Promise<EndpointsSeen> {
  const { rows } = await db.raw<{ rows: { endpointId: string; isDue: boolean }[] }>(
    STEP_FROM_ENDPOINT_TO_ENDPOINT,
    {
      after,
      limit,
      at: now(),
    },
  );
  return {
    due: rows.flatMap(({ endpointId, isDue }) => (isDue ? [endpointId] : [])),
    last: rows.length < limit ? '' : (rows.at(-1)?.endpointId ?? ''),
  };
}

const EARLIEST_OF_NEXT_ENDPOINT = (after: string): string => `
  SELECT endpoint_id, due_at FROM webhook_deliveries
  WHERE due_at IS NOT NULL AND endpoint_id > ${after} ORDER BY endpoint_id, due_at LIMIT 1`;

const STEP_FROM_ENDPOINT_TO_ENDPOINT = `
  WITH RECURSIVE step AS (
    (${EARLIEST_OF_NEXT_ENDPOINT(':after')})
    UNION ALL
    SELECT next.* FROM step, LATERAL (${EARLIEST_OF_NEXT_ENDPOINT('step.endpoint_id')}) next
  )
  SELECT endpoint_id AS "endpointId", due_at <= :at AS "isDue" FROM step LIMIT :limit`;
