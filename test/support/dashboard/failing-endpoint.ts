import { buildEndpoints, buildEvents, buildPaidSession } from '../../../lab/world/shop/factories.js';
import type { Knex } from '../../../shared/db/knex.js';
import { newId } from '../../../shared/values/ids.js';
import { WebhookDelivery } from '../../../shared/webhooks/model.js';

/** An endpoint that has answered 500 to each of its events, and the events. */
export interface FailingEndpoint {
  endpointId: string;
  eventIds: string[];
  sessionId: string;
}

interface Failing {
  events: number;
  url?: string;
  answer?: string;
}

type Deliveries = Pick<FailingEndpoint, 'endpointId' | 'eventIds'>;

/** Their next try is due later than any spec ends. */
async function buildDeliveries(
  db: Knex,
  { endpointId, eventIds }: Deliveries,
  tried: Partial<WebhookDelivery> = {},
): Promise<void> {
  const dueAt = new Date(Date.now() + 3_600_000);
  const delivery = { endpointId, status: 'pending' as const, dueAt, ...tried };
  await WebhookDelivery.query(db).insert(
    eventIds.map((eventId) => ({ ...delivery, id: newId('wd_'), eventId })),
  );
}

/** Newer deliveries to the endpoint, which no worker has tried yet. */
export async function buildUntried(
  db: Knex,
  accountId: string,
  { endpointId, sessionId }: Pick<FailingEndpoint, 'endpointId' | 'sessionId'>,
  count: number,
): Promise<void> {
  const eventIds = await buildEvents(db, accountId, { id: sessionId }, count);
  await buildDeliveries(db, { endpointId, eventIds });
}

export async function buildFailingEndpoint(
  db: Knex,
  accountId: string,
  { events, url = 'https://shop.example/hooks', answer = 'Internal error' }: Failing,
): Promise<FailingEndpoint> {
  const { session } = await buildPaidSession(db, accountId);
  const [endpointId = ''] = await buildEndpoints(db, accountId, 1, { url });
  if (events === 0) return { endpointId, eventIds: [], sessionId: session.id };
  const eventIds = await buildEvents(db, accountId, session, events);
  const history = [{ at: new Date().toISOString(), durationMs: 200, status: 500, error: null, answer }];
  await buildDeliveries(db, { endpointId, eventIds }, { attempt: 1, tries: 1, history });
  return { endpointId, eventIds, sessionId: session.id };
}
