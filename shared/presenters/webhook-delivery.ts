import type { DeliveryTry } from '../domain/webhook-event.js';
import type { WebhookDelivery } from '../models/webhook-delivery.js';
import { createdSeconds, unixSeconds } from './timestamp.js';

export function presentWebhookDelivery(delivery: WebhookDelivery, type: string): object {
  return {
    id: delivery.id,
    object: 'webhook_delivery',
    event: delivery.eventId,
    type,
    status: delivery.status,
    created: createdSeconds(delivery.id),
    next_try_at: delivery.dueAt === null ? null : unixSeconds(delivery.dueAt),
    tries: delivery.history.map(presentTry),
  };
}

function presentTry({ at, durationMs, status, error, answer }: DeliveryTry): object {
  return { at: unixSeconds(new Date(at)), duration_ms: durationMs, status, error, answer };
}
