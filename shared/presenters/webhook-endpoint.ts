import type { WebhookEndpoint } from '../models/webhook-endpoint.js';
import { createdSeconds } from './timestamp.js';

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

/** Only the answers that make one tell a signing secret. */
export function presentNewWebhookEndpoint(endpoint: WebhookEndpoint, secret: string): object {
  return { ...presentWebhookEndpoint(endpoint), secret };
}

export function presentDeletedWebhookEndpoint(id: string): object {
  return { id, object: 'webhook_endpoint', deleted: true };
}
