import { createdSeconds, unixSeconds, unixSecondsOrNull } from '../wire/timestamp.js';
import type { ListedDelivery } from './deliveries.js';
import { API_VERSION } from './event-types.js';
import type { WebhookEndpoint } from './model.js';
import type { DeliveryTry } from './states.js';

export interface StoredEvent {
  id: string;
  livemode: boolean;
  type: string;
  /** JSON as it is stored, so that every delivery of an event has the same bytes. */
  objectText: string;
}

export function renderEvent({ objectText, ...event }: StoredEvent): string {
  return `${JSON.stringify(presentEventHead(event)).slice(0, -1)},"data":{"object":${objectText}}}`;
}

/** All fields of an event before its `data`. */
export function presentEventHead({ id, livemode, type }: Omit<StoredEvent, 'objectText'>): object {
  return { id, object: 'event', api_version: API_VERSION, created: createdSeconds(id), livemode, type };
}

export function presentWebhookDelivery({ delivery, type, isHeld }: ListedDelivery): object {
  return {
    id: delivery.id,
    object: 'webhook_delivery',
    event: delivery.eventId,
    type,
    status: delivery.status,
    created: createdSeconds(delivery.id),
    next_try_at: delivery.dueAt === null || isHeld ? null : unixSeconds(delivery.dueAt),
    tries: delivery.history.map(presentTry),
  };
}

function presentTry({ at, durationMs, status, error, answer }: DeliveryTry): object {
  return { at: unixSeconds(new Date(at)), duration_ms: durationMs, status, error, answer };
}

export function presentWebhookEndpoint(endpoint: WebhookEndpoint): object {
  return {
    id: endpoint.id,
    object: 'webhook_endpoint',
    url: endpoint.url,
    enabled_events: endpoint.enabledEvents,
    status: endpoint.status,
    livemode: endpoint.livemode,
    description: endpoint.description,
    created: createdSeconds(endpoint.id),
  };
}

/** Presents an endpoint to the operator, with its account and, where it is known, its latest try. */
export function presentOperatorEndpoint(endpoint: WebhookEndpoint, lastTry?: DeliveryTry): object {
  return {
    ...presentWebhookEndpoint(endpoint),
    account: endpoint.accountId,
    failing_since: unixSecondsOrNull(endpoint.failingSince),
    ...(endpoint.unreadableSince && { unreadable_since: unixSeconds(endpoint.unreadableSince) }),
    ...(lastTry !== undefined && { last_try: presentTry(lastTry) }),
  };
}

/** Only the answers to create and roll show the signing secret. */
export function presentNewWebhookEndpoint(endpoint: WebhookEndpoint, secret: string): object {
  return { ...presentWebhookEndpoint(endpoint), secret };
}

export function presentDeletedWebhookEndpoint(id: string): object {
  return { id, object: 'webhook_endpoint', deleted: true };
}
