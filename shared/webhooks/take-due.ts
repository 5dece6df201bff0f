import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { certainNow, now } from '../process/clock.js';
import type { WebhookEndpoint } from './model.js';
import { renderEvent, type StoredEvent } from './present.js';
import { dealSlots, SLOTS_WHILE_FAILING, type SlotAllowance } from './slots.js';
import { CHOOSE, LOCK_ENDPOINT_OF, TAKE, TAKE_QUARANTINED } from './statements/take-due.sql.js';

/** A try takes at most 10 s to the answer's headers and 1 s for its body; the rest is for writing its outcome. */
export const LEASE_MS = 41_000;

export interface Batch {
  deliveries: TakenDelivery[];
  /** The other due deliveries, as far as known: none, some that can start now, or only some that wait for tries to end. */
  left: 'nothing' | 'now' | 'later';
}

export interface TakenEndpoint extends Pick<WebhookEndpoint, 'id' | 'url' | 'failingSince'> {
  /** How many deliveries to the endpoint may be in flight while it does not fail. */
  slots: number;
  accountId: string;
  host: string;
  /** The secrets that sign, newest first. */
  sealedSecrets: string[];
}

export interface TakenDelivery {
  id: string;
  attempt: number;
  tries: number;
  eventId: string;
  /** The session or refund that the event is about. */
  payableId: string;
  endpoint: TakenEndpoint;
  body: string;
  /** The length of the event's object, which is nearly all of the body. */
  bytes: number;
}

/**
 * Takes due deliveries of one account: its hosts in turn, and the endpoints of each host in turn. Workers that take lock the
 * endpoints' rows, so that together they never exceed an endpoint's slots. An expired lease does not count, so a worker that
 * crashed holds no slot. The lock is a statement of its own, so that the next statement counts the deliveries that the
 * previous holder of the lock took.
 */
export async function takeDueDeliveries(
  db: Knex,
  accountId: string,
  allowance: SlotAllowance,
): Promise<Batch> {
  return await db.transaction(async (trx) => {
    const { slots, fullHosts } = allowance;
    const bindings = [accountId, now(), slots, fullHosts, SLOTS_WHILE_FAILING, certainNow()];
    const rows = await runStatement<ChosenRow>(trx, CHOOSE, bindings);
    const chosen = rows.flatMap((row) => (row.id === null ? [] : [row]));
    const others = (rows[0]?.due ?? 0) - chosen.length;
    const endpoints = chosen.filter(isOpen).map((row) => ({ ...row, accountId }));
    const batch = await takeFor(trx, endpoints, allowance);
    if (others <= 0 || batch.left === 'now') return batch;
    return {
      ...batch,
      left: batch.deliveries.length > 0 && chosen.length === allowance.slots ? 'now' : 'later',
    };
  });
}

type ChosenRow = { due: number } & (ChosenEndpoint | { id: null });

interface ChosenEndpoint
  extends Omit<TakenEndpoint, 'accountId'>,
    Pick<WebhookEndpoint, 'status' | 'deletedAt'> {}

/** An endpoint may have been disabled or deleted while its lock was waited for. */
function isOpen({ status, deletedAt }: ChosenEndpoint): boolean {
  return status === 'enabled' && deletedAt === null;
}

async function takeFor(
  trx: Knex.Transaction,
  endpoints: readonly TakenEndpoint[],
  allowance: SlotAllowance,
): Promise<Batch> {
  if (endpoints.length === 0) return { deliveries: [], left: 'nothing' };
  const receivers = endpoints.map((endpoint) => ({ ...endpoint, most: mostOf(endpoint) }));
  const dealt = dealSlots(receivers, allowance);
  const at = now();
  const rows = await runStatement<TakeRow>(trx, TAKE, [
    at,
    leaseFrom(at),
    receivers.map(({ id }) => id),
    receivers.map(({ id }) => dealt.get(id) ?? 0),
    receivers.map(({ most }) => most),
    allowance.slots,
    allowance.bytesPerSlot,
  ]);
  const endpointOf = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
  const deliveries = rows.flatMap((row) => {
    const endpoint = endpointOf.get(row.endpointId);
    return row.id === null || endpoint === undefined ? [] : [takenDelivery(row, endpoint)];
  });
  return { deliveries, left: leftBy(rows, deliveries) };
}

function mostOf({ failingSince, slots }: TakenEndpoint): number {
  return failingSince === null ? slots : SLOTS_WHILE_FAILING;
}

export function leaseFrom(at: Date): Date {
  return new Date(at.getTime() + LEASE_MS);
}

type TakeRow = TakenFor & (TakenRow | NothingTaken);

interface TakenFor {
  endpointId: string;
  /** The slots that were dealt to the endpoint and are free. */
  free: number;
  couldHaveMore: boolean;
  /** A due delivery was too large for the remaining slots. */
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
  payableId: string;
}

export interface NothingTaken {
  id: null;
}

export function takenDelivery(row: TakenRow, endpoint: TakenEndpoint): TakenDelivery {
  const { id, attempt, tries, eventId, payableId, livemode, type, objectText } = row;
  const body = renderEvent({ id: eventId, livemode, type, objectText });
  return { id, attempt, tries, eventId, payableId, endpoint, body, bytes: Buffer.byteLength(objectText) };
}

/** Returns undefined when another worker has taken the delivery, or its endpoint is disabled or deleted. */
export async function takeQuarantinedDelivery(db: Knex, id: string): Promise<TakenDelivery | undefined> {
  return await db.transaction(async (trx) => {
    const at = now();
    const [endpoint] = await runStatement<ChosenEndpoint & { accountId: string }>(trx, LOCK_ENDPOINT_OF, [
      id,
      certainNow(),
    ]);
    if (endpoint === undefined || !isOpen(endpoint)) return undefined;
    const [row] = await runStatement<TakenRow>(trx, TAKE_QUARANTINED, [at, leaseFrom(at), id]);
    return row && takenDelivery(row, endpoint);
  });
}
