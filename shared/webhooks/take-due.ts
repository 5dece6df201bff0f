import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { now } from '../process/clock.js';
import { dealSlots, type Room } from './deal-slots.js';
import { LEASE_MS, SLOTS_WHILE_FAILING } from './event-types.js';
import { dropPending, holdPending } from './hold.js';
import type { WebhookEndpoint } from './model.js';
import { renderEvent, type StoredEvent } from './present.js';
import { CHOOSE, TAKE } from './statements/take-due.sql.js';

/**
 * Takes due deliveries of one account: its hosts in turn, and the endpoints of each. Takers lock the endpoints' rows, so
 * that together they never have more in flight to an endpoint than it may have. An expired lease does not count, so a killed
 * worker blocks no slot. The lock is a statement of its own: the next one then counts what the taker before has left.
 */
export interface Batch {
  deliveries: TakenDelivery[];
  /** Whether more is due: nothing known, more that could start now, or more that has to wait for tries to end. */
  left: 'nothing' | 'now' | 'later';
}

export interface TakenEndpoint extends Pick<WebhookEndpoint, 'id' | 'url' | 'failingSince'> {
  /** How many deliveries to it may be in flight while it does not fail. */
  slots: number;
  accountId: string;
  host: string;
  /** The secrets that sign, the newest first. */
  sealedSecrets: string[];
}

export interface TakenDelivery {
  id: string;
  attempt: number;
  tries: number;
  eventId: string;
  endpoint: TakenEndpoint;
  body: string;
  /** The length of the event's object: the body's, but for its frame. */
  bytes: number;
}

export async function takeDueDeliveries(db: Knex, accountId: string, room: Room): Promise<Batch> {
  return await db.transaction(async (trx) => {
    const bindings = [accountId, now(), room.slots, room.fullHosts, SLOTS_WHILE_FAILING];
    const rows = await runStatement<ChosenRow>(trx, CHOOSE, bindings);
    const chosen = rows.flatMap((row) => (row.id === null ? [] : [row]));
    const others = (rows[0]?.due ?? 0) - chosen.length;
    const endpoints = (await leaveOutClosed(trx, chosen)).map((row) => ({ ...row, accountId }));
    const batch = await takeFor(trx, endpoints, room);
    if (others <= 0 || batch.left === 'now') return batch;
    return { ...batch, left: batch.deliveries.length > 0 && chosen.length === room.slots ? 'now' : 'later' };
  });
}

type ChosenRow = { due: number } & (ChosenEndpoint | { id: null });

export interface ChosenEndpoint
  extends Omit<TakenEndpoint, 'accountId'>,
    Pick<WebhookEndpoint, 'status' | 'deletedAt'> {}

/** Deliveries that are due to a deleted endpoint are dropped, to a disabled one held. */
export async function leaveOutClosed<E extends ChosenEndpoint>(
  trx: Knex.Transaction,
  chosen: readonly E[],
): Promise<E[]> {
  const open: E[] = [];
  for (const endpoint of chosen) {
    if (endpoint.deletedAt !== null) await dropPending(trx, endpoint.id);
    else if (endpoint.status === 'disabled') await holdPending(trx, endpoint.id);
    else open.push(endpoint);
  }
  return open;
}

async function takeFor(
  trx: Knex.Transaction,
  endpoints: readonly TakenEndpoint[],
  room: Room,
): Promise<Batch> {
  if (endpoints.length === 0) return { deliveries: [], left: 'nothing' };
  const wanting = endpoints.map((endpoint) => ({ ...endpoint, most: mostOf(endpoint) }));
  const dealt = dealSlots(wanting, room);
  const at = now();
  const rows = await runStatement<TakeRow>(trx, TAKE, [
    at,
    leaseFrom(at),
    wanting.map(({ id }) => id),
    wanting.map(({ id }) => dealt.get(id) ?? 0),
    wanting.map(({ most }) => most),
    room.slots,
    room.bytesPerSlot,
  ]);
  const endpointOf = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
  const deliveries = rows.flatMap((row) => {
    const endpoint = endpointOf.get(row.endpointId);
    return row.id === null || endpoint === undefined ? [] : [presentTaken(row, endpoint)];
  });
  return { deliveries, left: leftBy(rows, deliveries) };
}

function mostOf({ failingSince, slots }: TakenEndpoint): number {
  return failingSince === null ? slots : SLOTS_WHILE_FAILING;
}

export function leaseFrom(at: Date): Date {
  return new Date(at.getTime() + LEASE_MS);
}

type TakeRow = TakenOf & (TakenRow | NothingTaken);

interface TakenOf {
  endpointId: string;
  /** The slots that the endpoint got. */
  free: number;
  couldHaveMore: boolean;
  /** A due delivery was too heavy for the slots that were left. */
  isCut: boolean;
}

function leftBy(rows: readonly TakeRow[], deliveries: readonly TakenDelivery[]): Batch['left'] {
  const took = ({ endpointId }: TakeRow): number =>
    deliveries.filter(({ endpoint }) => endpoint.id === endpointId).length;
  const full = rows.filter((row) => took(row) >= row.free);
  const isCut = rows.some((row) => row.isCut);
  if (deliveries.length > 0 && (isCut || full.some(({ couldHaveMore }) => couldHaveMore))) return 'now';
  return full.length > 0 || isCut ? 'later' : 'nothing';
}

export interface TakenRow extends Omit<StoredEvent, 'id'> {
  id: string;
  attempt: number;
  tries: number;
  eventId: string;
}

export interface NothingTaken {
  id: null;
}

export function presentTaken(row: TakenRow, endpoint: TakenEndpoint): TakenDelivery {
  const { id, attempt, tries, eventId, livemode, type, objectText } = row;
  const body = renderEvent({ id: eventId, livemode, type, objectText });
  return { id, attempt, tries, eventId, endpoint, body, bytes: Buffer.byteLength(objectText) };
}
