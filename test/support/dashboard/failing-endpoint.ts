import { buildEndpoints, buildEvent, buildPaidSession } from '../../../lab/world/shop/factories.js';
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

/** Newer deliveries to the endpoint, which no worker has tried yet. */
export async function buildUntried(
  db: Knex,
  accountId: string,
  { endpointId, sessionId }: Pick<FailingEndpoint, 'endpointId' | 'sessionId'>,
  count: number,
): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const eventId = await buildEvent(db, accountId, { id: sessionId });
    const dueAt = new Date(Date.now() + 3_600_000);
    await WebhookDelivery.query(db).insert({
      id: newId('wd_'),
      eventId,
      endpointId,
      status: 'pending',
      dueAt,
    });
  }
}

export async function buildFailingEndpoint(
  db: Knex,
  accountId: string,
  { events, url = 'https://shop.example/hooks', answer = 'Internal error' }: Failing,
): Promise<FailingEndpoint> {
  const { session } = await buildPaidSession(db, accountId);
  const [endpointId = ''] = await buildEndpoints(db, accountId, 1, { url });
  const eventIds: string[] = [];
  for (let n = 0; n < events; n += 1) {
    const eventId = await buildEvent(db, accountId, session);
    eventIds.push(eventId);
    await WebhookDelivery.query(db).insert({
      id: newId('wd_'),
      eventId,
      endpointId,
      status: 'pending',
      // The retry is due later than any spec ends.
      dueAt: new Date(Date.now() + 3_600_000),
      attempt: 1,
      tries: 1,
      history: [{ at: new Date().toISOString(), durationMs: 200, status: 500, error: null, answer }],
    });
  }
  return { endpointId, eventIds, sessionId: session.id };
}
