import { isKeyActive, type Principal } from '../accounts/api-keys.js';
import type { Knex } from '../db/knex.js';
import type { Listing, Page, PageRequest } from '../db/listing.js';
import { readByIds, readPage } from '../db/page.js';
import { type Sized, sizedColumns } from '../db/sized-columns.js';
import { getWebhookEndpoint } from './endpoints.js';
import { WebhookDelivery } from './model.js';
import type { DeliveryStatus } from './states.js';

/** A delivery with the type of its event. */
export interface ListedDelivery {
  delivery: WebhookDelivery;
  type: string;
  /** Whether its endpoint is disabled, or has a secret that cannot be opened. */
  isHeld: boolean;
}

const columns = sizedColumns(
  WebhookDelivery,
  'delivery',
  ['id', 'eventId', 'status', 'dueAt', 'history'],
  ['history'],
);

const DELIVERIES: Omit<Listing<ListedDelivery>, 'memberValues' | 'readerValues'> = {
  name: 'deliveries',
  what: 'webhook delivery',
  table: 'webhook_deliveries',
  alias: 'delivery',
  select: (share) => `
    SELECT ${columns.sql(share)}, event.type, endpoint.is_held AS "isHeld"
    FROM webhook_deliveries delivery ${columns.join}
    -- OFFSET 0 makes Postgres look up each event by its id.
    CROSS JOIN LATERAL (SELECT type FROM events WHERE id = delivery.event_id OFFSET 0) event
    CROSS JOIN LATERAL (
      SELECT status = 'disabled' OR unreadable_since IS NOT NULL AS is_held FROM webhook_endpoints WHERE id = delivery.endpoint_id OFFSET 0
    ) endpoint`,
  key: [['endpoint_id', '$3']],
  member: `EXISTS (
    SELECT FROM webhook_endpoints
    WHERE id = $3 AND account_id = $1 AND livemode = $2 AND deleted_at IS NULL
  )`,
  readable: isKeyActive('$4'),
  filters: [],
  read: (row) => ({ delivery: columns.read(row), type: String(row.type), isHeld: row.isHeld === true }),
};

/** Lists the deliveries of one endpoint. */
export async function listDeliveries(
  db: Knex,
  principal: Principal,
  endpointId: string,
  page: PageRequest,
  status: DeliveryStatus | undefined,
): Promise<Page<Sized<ListedDelivery>>> {
  const listing = ownDeliveries(principal, endpointId);
  // The status is in the text and not a parameter, so that the planner can choose the partial index of the status.
  const filtered =
    status === undefined
      ? listing
      : { ...listing, name: `deliveries ${status}`, listed: `delivery.status = '${status}'` };
  return await readPage(db, filtered, page, () => requireEndpoint(db, principal, endpointId));
}

export async function readDeliveries(
  db: Knex,
  principal: Principal,
  endpointId: string,
  ids: readonly string[],
): Promise<ListedDelivery[]> {
  return await readByIds(db, ownDeliveries(principal, endpointId), ids, () =>
    requireEndpoint(db, principal, endpointId),
  );
}

async function requireEndpoint(db: Knex, principal: Principal, endpointId: string): Promise<void> {
  await getWebhookEndpoint(db, principal, endpointId);
}

function ownDeliveries(
  { accountId, livemode, keyId }: Principal,
  endpointId: string,
): Listing<ListedDelivery> {
  return { ...DELIVERIES, memberValues: [accountId, livemode, endpointId], readerValues: [keyId] };
}
