import { now } from '../../clock.js';
import type { Knex } from '../../db/knex.js';
import { runStatement } from '../../db/statement.js';
import { LEASE_MS, MAX_IN_FLIGHT, MAX_IN_FLIGHT_WHILE_FAILING } from '../../domain/webhook-event.js';
import type { WebhookEndpoint } from '../../models/webhook-endpoint.js';
import { renderEvent, type StoredEvent } from '../../presenters/event.js';
import { dropPending, holdPending } from './hold.js';
import { LOCK, STEP_FROM_ENDPOINT_TO_ENDPOINT, TAKE } from './take-due.sql.js';

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
