import { accountList } from '../accounts/account-list.js';
import type { Principal } from '../accounts/api-keys.js';
import { afterCommit } from '../db/after-commit.js';
import type { Knex } from '../db/knex.js';
import { type IdRange, idRange, type Page, type PageRequest } from '../db/listing.js';
import { jsonBytes, type Sized } from '../db/sized-columns.js';
import { runStatement } from '../db/statement.js';
import { now } from '../process/clock.js';
import type { NotifyDeliveries } from '../queues/delivery-notifier.js';
import { newId } from '../values/ids.js';
import type { EventType } from './event-types.js';
import type { StoredEvent } from './present.js';
import { TRACE_OF_EVENT, WITH_REFUNDS, WRITE_AND_FAN_OUT } from './statements/events.sql.js';

export interface EventDeps {
  baseUrl: string;
  notifyDeliveries: NotifyDeliveries;
}

/** A session or a refund that changed. `object` is its wire form after the change. */
interface EventSubject {
  id: string;
  accountId: string;
  livemode: boolean;
  object: object;
}

/**
 * Writes an event for each subject in the transaction of the change, with a delivery for every enabled endpoint that
 * subscribes to its type, in one statement. Rows of endpoints are never deleted, so no foreign key of an endpoint can fail
 * the transaction of a payment. Workers are notified after the commit.
 */
export async function recordEvents(
  trx: Knex.Transaction,
  type: EventType,
  subjects: readonly EventSubject[],
  { notifyDeliveries }: Pick<EventDeps, 'notifyDeliveries'>,
): Promise<void> {
  const events = subjects.map(({ id, accountId, livemode, object }) => ({
    id: newId('evt_'),
    account_id: accountId,
    livemode,
    payable_id: id,
    object,
  }));
  const bindings = [JSON.stringify(events), type, now()];
  const rows = await runStatement<{ accountId: string }>(trx, WRITE_AND_FAN_OUT, bindings);
  const accountIds = rows.map(({ accountId }) => accountId);
  const eventId = events.at(-1)?.id ?? '';
  afterCommit(trx, () => notifyDeliveries({ eventId, accountIds }));
}

/** Reads the object of an event as text and never parses it, so that the API shows the bytes that were delivered. */
const EVENTS = accountList<StoredEvent>({
  name: 'events',
  what: 'event',
  table: 'events',
  alias: 'event',
  select: (share) => `
    SELECT event.id AS "event.id", event.livemode, event.type, weight.bytes,
      CASE WHEN weight.bytes <= ${share} THEN event.object::text END AS "objectText"
    FROM events event CROSS JOIN LATERAL (SELECT ${jsonBytes('event.object')} AS bytes OFFSET 0) weight`,
  read: (row) => ({
    id: String(row['event.id']),
    livemode: row.livemode === true,
    type: String(row.type),
    objectText: String(row.objectText),
  }),
});

export const { byIds: readEvents, one: getEvent } = EVENTS;

interface EventFilter extends IdRange {
  type: EventType | undefined;
  checkoutSession: string | undefined;
}

export async function listEvents(
  db: Knex,
  principal: Principal,
  page: PageRequest,
  { type, checkoutSession, ...created }: EventFilter,
): Promise<Page<Sized<StoredEvent>>> {
  return await EVENTS.page(db, principal, page, [
    { column: 'type', operator: '=', value: type },
    { column: 'payable_id', operator: '=', value: checkoutSession, among: WITH_REFUNDS },
    ...idRange(created),
  ]);
}

/** The trace of the payment that completed the event's session or refund. An object that expired unpaid has no trace. */
export async function traceOfEvent(db: Knex, eventId: string): Promise<string | null> {
  const [row] = await runStatement<{ trace: string | null }>(db, TRACE_OF_EVENT, [eventId]);
  return row?.trace ?? null;
}
