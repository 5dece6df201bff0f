import { now } from '../../clock.js';
import type { Knex } from '../../db/knex.js';
import { runStatement, type Statement } from '../../db/statement.js';
import { LEASE_MS, MAX_IN_FLIGHT, MAX_IN_FLIGHT_WHILE_FAILING } from '../../domain/webhook-event.js';
import type { WebhookEndpoint } from '../../models/webhook-endpoint.js';
import { renderEvent, type StoredEvent } from '../../presenters/event.js';
import { dropPending, holdPending } from './record-failure.js';

/**
 * Taking due deliveries of one endpoint. Takers take turns at its row, so that together they never have more on the way
 * than it may have; a lease that has run out counts no more, so a killed worker leaves nothing stuck. The row is locked
 * by a statement of its own: what is counted next is seen as the taker before has left it.
 */
export interface Batch {
  endpoint: TakenEndpoint;
  deliveries: TakenDelivery[];
  /** There may be more that is due: every place was taken. */
  isFull: boolean;
}

export type TakenEndpoint = Pick<WebhookEndpoint, 'id' | 'url' | 'sealedSecret' | 'failingSince'>;

export interface TakenDelivery {
  id: string;
  attempt: number;
  tries: number;
  eventId: string;
  body: string;
}

export async function takeDueDeliveries(
  db: Knex,
  endpointId: string,
  places: number,
): Promise<Batch | undefined> {
  return await db.transaction(async (trx) => {
    const [endpoint] = await runStatement<LockedEndpoint>(trx, LOCK, [endpointId]);
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
    const most = endpoint.failingSince === null ? MAX_IN_FLIGHT : MAX_IN_FLIGHT_WHILE_FAILING;
    const bindings = [at, leaseFrom(at), endpointId, places, most];
    const rows = await runStatement<(TakenRow | NothingTaken) & { free: number }>(trx, TAKE, bindings);
    const deliveries = rows.flatMap((row) => (row.id === null ? [] : [presentTaken(row)]));
    return { endpoint, deliveries, isFull: deliveries.length >= (rows[0]?.free ?? 0) };
  });
}

export function leaseFrom(at: Date): Date {
  return new Date(at.getTime() + LEASE_MS);
}

interface LockedEndpoint extends TakenEndpoint, Pick<WebhookEndpoint, 'status' | 'deletedAt'> {}

const LOCK: Statement = {
  name: 'lock-endpoint',
  text: `
  SELECT id, url, sealed_secret AS "sealedSecret", failing_since AS "failingSince", status, deleted_at AS "deletedAt"
  FROM webhook_endpoints WHERE id = $1 FOR NO KEY UPDATE`,
};

export interface TakenRow extends Omit<StoredEvent, 'id'> {
  id: string;
  attempt: number;
  tries: number;
  eventId: string;
}

export interface NothingTaken {
  id: null;
}

export function presentTaken({ id, attempt, tries, eventId, ...event }: TakenRow): TakenDelivery {
  const { livemode, type, objectText } = event;
  return { id, attempt, tries, eventId, body: renderEvent({ id: eventId, livemode, type, objectText }) };
}

/** The planner keeps one plan for values that it does not see; else it would plan anew each time, for longer than it works. */
export const hidden = (value: string): string => `(SELECT ${value})`;

/** What is due at $1 is leased until $2: as many as `free` has places for each endpoint. */
export const TAKE_INTO_FREE = `
  due AS (
    SELECT due.id FROM free CROSS JOIN LATERAL (
      -- A row that somebody else is writing to is left, and one that was written just now is asked again.
      SELECT id FROM webhook_deliveries WHERE endpoint_id = free.endpoint_id AND due_at <= ${hidden('$1::timestamptz')}
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

const TAKE: Statement = {
  name: 'take-due-deliveries',
  text: `
  WITH free AS (
    SELECT $3::text AS endpoint_id, greatest(0, least($4::int, $5::int - count(*)::int)) AS places
    FROM webhook_deliveries WHERE endpoint_id = $3 AND leased_until > $1
  ), ${TAKE_INTO_FREE}
  SELECT free.places AS free, ${TAKEN_COLUMNS} FROM free LEFT JOIN taken ON true`,
};

export interface EndpointsSeen {
  /** Those that have something due. */
  due: string[];
  /** Where to go on the next time; empty at the end of the round. */
  last: string;
}

/** Steps along the index from endpoint to endpoint, so that a thousand deliveries due to one hide no other. */
export async function findDueEndpoints(db: Knex, after: string, limit: number): Promise<EndpointsSeen> {
  const bindings = [after, limit, now()];
  const rows = await runStatement<{ endpointId: string; isDue: boolean }>(
    db,
    STEP_FROM_ENDPOINT_TO_ENDPOINT,
    bindings,
  );
  return {
    due: rows.flatMap(({ endpointId, isDue }) => (isDue ? [endpointId] : [])),
    last: rows.length < limit ? '' : (rows.at(-1)?.endpointId ?? ''),
  };
}

const EARLIEST_OF_NEXT_ENDPOINT = (after: string): string => `
  SELECT endpoint_id, due_at FROM webhook_deliveries
  WHERE due_at IS NOT NULL AND endpoint_id > ${after} ORDER BY endpoint_id, due_at LIMIT 1`;

const STEP_FROM_ENDPOINT_TO_ENDPOINT: Statement = {
  name: 'step-from-endpoint-to-endpoint',
  text: `
  WITH RECURSIVE step AS (
    (${EARLIEST_OF_NEXT_ENDPOINT('$1::text')})
    UNION ALL
    SELECT next.* FROM step, LATERAL (${EARLIEST_OF_NEXT_ENDPOINT('step.endpoint_id')}) next
  )
  SELECT endpoint_id AS "endpointId", due_at <= $3 AS "isDue" FROM step LIMIT $2`,
};
