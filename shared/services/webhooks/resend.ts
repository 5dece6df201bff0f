import { now } from '../../clock.js';
import type { Knex } from '../../db/knex.js';
import { noSuch, Refusal } from '../../domain/errors.js';
import { newId } from '../../ids.js';
import { Event } from '../../models/event.js';
import { WebhookDelivery } from '../../models/webhook-delivery.js';
import { WebhookEndpoint } from '../../models/webhook-endpoint.js';

export interface Resent {
  deliveryId: string;
  endpointId: string;
}

/** An operator sends an event again: to one endpoint, or to every enabled one that wants it now. */
export async function resendEvent(
  db: Knex,
  eventId: string,
  endpointId: string | undefined,
): Promise<Resent[]> {
  const event = await Event.query(db).findById(eventId).select('id', 'accountId', 'livemode', 'type');
  if (event === undefined) throw noSuch('event', eventId);
  const { accountId, livemode, type } = event;
  const receivers = WebhookEndpoint.query(db)
    .where({ accountId, livemode, status: 'enabled' })
    .whereNull('deletedAt')
    .select('id');
  if (endpointId !== undefined) receivers.where('id', endpointId);
  else receivers.whereRaw(`enabled_events && ARRAY[?, '*']`, type);
  const endpoints = await receivers;
  if (endpoints.length === 0) throw noReceiver(eventId, endpointId);
  const rows = endpoints.map(({ id }) => ({ deliveryId: newId('wd_'), endpointId: id }));
  const dueAt = now();
  await WebhookDelivery.query(db).insert(
    rows.map((row) => ({
      id: row.deliveryId,
      eventId,
      endpointId: row.endpointId,
      status: 'pending' as const,
      dueAt,
    })),
  );
  return rows;
}

function noReceiver(eventId: string, endpointId: string | undefined): Refusal {
  return new Refusal(
    'resource_missing',
    endpointId === undefined
      ? `No enabled webhook endpoint of the account wants ${eventId} in its mode.`
      : `${endpointId} is not an enabled webhook endpoint of the event's account and mode.`,
  );
}
