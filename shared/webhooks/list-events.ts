import { accountList } from '../accounts/account-list.js';
import type { Principal } from '../accounts/api-keys.js';
import type { Knex } from '../db/knex.js';
import { type IdRange, idRange, type Page, type PageRequest } from '../db/listing.js';
import { jsonBytes, type Sized } from '../db/sized-columns.js';
import type { EventType } from './event-types.js';
import type { StoredEvent } from './present.js';

/** Events as they were delivered: their object stays the text that it was stored as, which no parser has touched. */
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

export interface EventFilter extends IdRange {
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
    { column: 'checkout_session_id', operator: '=', value: checkoutSession },
    ...idRange(created),
  ]);
}
