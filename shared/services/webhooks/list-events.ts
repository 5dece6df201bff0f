import type { Knex } from '../../db/knex.js';
import {
  givenFilters,
  type IdRange,
  idRange,
  type Listing,
  type Page,
  type PageRequest,
  readById,
  readByIds,
  readPage,
} from '../../db/page.js';
import { jsonBytes, type Weighed } from '../../db/weighed-columns.js';
import { noSuch } from '../../domain/errors.js';
import type { EventType } from '../../domain/webhook-event.js';
import type { StoredEvent } from '../../presenters/event.js';
import { keyCounts, type Principal, requireKeyThatCounts } from '../access/api-keys.js';

/** Events as they were delivered: their object stays the text that it was stored as, which no parser has touched. */
const EVENTS: Omit<Listing<StoredEvent>, 'values'> = {
  name: 'events',
  what: 'event',
  table: 'events',
  alias: 'event',
  select: (share) => `
    SELECT event.id AS "event.id", event.livemode, event.type, weight.bytes,
      CASE WHEN weight.bytes <= ${share} THEN event.object::text END AS "objectText"
    FROM events event CROSS JOIN LATERAL (SELECT ${jsonBytes('event.object')} AS bytes OFFSET 0) weight`,
  owned: 'event.account_id = $1 AND event.livemode = $2',
  allowed: keyCounts('$3'),
  filters: [],
  read: (row) => ({
    id: String(row['event.id']),
    livemode: row.livemode === true,
    type: String(row.type),
    objectText: String(row.objectText),
  }),
};

export interface EventFilter extends IdRange {
  type: EventType | undefined;
  checkoutSession: string | undefined;
}

export async function listEvents(
  db: Knex,
  principal: Principal,
  page: PageRequest,
  { type, checkoutSession, ...created }: EventFilter,
): Promise<Page<Weighed<StoredEvent>>> {
  const filters = givenFilters([
    { column: 'type', operator: '=', value: type },
    { column: 'checkout_session_id', operator: '=', value: checkoutSession },
    ...idRange(created),
  ]);
  return await readPage(db, { ...ownEvents(principal), filters }, page, () =>
    requireKeyThatCounts(db, principal),
  );
}

export async function readEvents(
  db: Knex,
  principal: Principal,
  ids: readonly string[],
): Promise<StoredEvent[]> {
  return await readByIds(db, ownEvents(principal), ids, () => requireKeyThatCounts(db, principal));
}

export async function getEvent(db: Knex, principal: Principal, id: string): Promise<StoredEvent> {
  return await readById(db, ownEvents(principal), id, async () => {
    await requireKeyThatCounts(db, principal);
    return noSuch('event', id);
  });
}

function ownEvents({ accountId, livemode, keyId }: Principal): Listing<StoredEvent> {
  return { ...EVENTS, values: [accountId, livemode, keyId] };
}
