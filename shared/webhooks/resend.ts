import type { Principal } from '../accounts/api-keys.js';
import { type AnswerRendering, renderAndStore } from '../accounts/idempotency.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { noSuch, Refusal, requireFound } from '../errors/refusal.js';
import { now, nowMs } from '../process/clock.js';
import type { NotifyDeliveries } from '../queues/delivery-notifier.js';
import { newIdStart } from '../values/ids.js';
import { getEvent } from './events.js';
import { Event, WebhookEndpoint } from './model.js';
import type { StoredEvent } from './present.js';
import { RESEND, SHARE_EVENT } from './statements/events.sql.js';

interface Resent {
  deliveryId: string;
  endpointId: string;
}

type ResentEvent = Pick<Event, 'id' | 'accountId' | 'livemode'> & { type: string };

/** Sends an event again for an operator: to one endpoint, or to every enabled endpoint that subscribes to its type now. */
export async function resendEvent(
  trx: Knex,
  eventId: string,
  endpointId: string | undefined,
): Promise<Resent[]> {
  await runStatement(trx, SHARE_EVENT, [eventId]);
  const found = await Event.query(trx).findById(eventId).select('id', 'accountId', 'livemode', 'type');
  const event = requireFound(found, 'event', eventId);
  const resent = await deliverAgain(trx, event, endpointId);
  if (resent.length === 0) throw noReceiver(eventId, endpointId);
  return resent;
}

/** Sends an event again for its merchant. Without `endpointId`, having no endpoint that subscribes to its type is no error. */
export async function resendOwnEvent(
  db: Knex,
  principal: Principal,
  { eventId, endpointId }: { eventId: string; endpointId: string | undefined },
  notifyDeliveries: NotifyDeliveries,
  rendering: AnswerRendering<StoredEvent>,
): Promise<string> {
  const { accountId, livemode } = principal;
  const text = await db.transaction(async (trx) => {
    await runStatement(trx, SHARE_EVENT, [eventId]);
    const event = await getEvent(trx, principal, eventId);
    if (endpointId !== undefined) await requireEnabled(trx, principal, endpointId);
    await deliverAgain(trx, { ...event, accountId, livemode }, endpointId);
    return await renderAndStore(trx, rendering, event);
  });
  notifyDeliveries({ eventId: `resent-${nowMs()}`, accountIds: [accountId] });
  return text;
}

/** Writes new deliveries of the same event in one statement, for any number of endpoints. */
async function deliverAgain(
  db: Knex,
  { id: eventId, accountId, livemode, type }: ResentEvent,
  endpointId: string | undefined,
): Promise<Resent[]> {
  const bindings = [eventId, accountId, livemode, type, now(), endpointId ?? null, newIdStart('wd_')];
  return await runStatement<Resent>(db, RESEND, bindings);
}

async function requireEnabled(trx: Knex, { accountId, livemode }: Principal, id: string): Promise<void> {
  const param = 'webhook_endpoint';
  const endpoint = await WebhookEndpoint.query(trx)
    .findById(id)
    .where({ accountId, livemode })
    .whereNull('deletedAt')
    .select('status');
  if (endpoint === undefined) throw noSuch('webhook endpoint', id, param);
  if (endpoint.status === 'enabled') return;
  throw new Refusal(
    'webhook_endpoint_disabled',
    `${id} is disabled. Enable it first: POST /v1/webhook_endpoints/${id} with disabled=false.`,
    { param },
  );
}

function noReceiver(eventId: string, endpointId: string | undefined): Refusal {
  return new Refusal(
    'resource_missing',
    endpointId === undefined
      ? `No enabled webhook endpoint of the event's account and mode subscribes to the type of ${eventId}.`
      : `${endpointId} is not an enabled webhook endpoint of the event's account and mode.`,
  );
}
