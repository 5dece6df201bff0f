import { openApiDocument } from '../../api/openapi/document.js';
import { type IdPrefix, newId } from '../../shared/values/ids.js';
import type { Method } from './api-client.js';

interface Operation {
  security?: Record<string, unknown>[];
  parameters: { name: string; in: string; description?: string }[];
  requestBody?: object;
}

const { paths } = openApiDocument('https://pay.example') as {
  paths: Record<string, Record<string, Operation>>;
};

/** Every documented operation that takes a checkout key, so that a new one is in the matrix automatically. */
export const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { security }]) => security === undefined)
    .map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method as Method,
      path,
      operation,
    })),
);

export type Kind = 'session' | 'payment' | 'refund' | 'event' | 'endpoint' | 'delivery' | 'lineItem' | 'key';

/** The kind of object that a path's id or a list's cursor names. A missing path fails the first test. */
export const OBJECTS: Record<string, Kind | undefined> = {
  '/v1/checkout/sessions': 'session',
  '/v1/checkout/sessions/{id}': 'session',
  '/v1/checkout/sessions/{id}/expire': 'session',
  '/v1/checkout/sessions/{id}/line_items': 'session',
  '/v1/payments': 'payment',
  '/v1/payments/{id}': 'payment',
  '/v1/events': 'event',
  '/v1/events/{id}': 'event',
  '/v1/events/{id}/resend': 'event',
  '/v1/keys': 'key',
  '/v1/keys/{id}': 'key',
  '/v1/refunds': 'refund',
  '/v1/refunds/{id}': 'refund',
  '/v1/refunds/{id}/cancel': 'refund',
  // The parameters of the report name no object.
  '/v1/reports/daily': undefined,
  '/v1/webhook_endpoints': 'endpoint',
  '/v1/webhook_endpoints/{id}': 'endpoint',
  '/v1/webhook_endpoints/{id}/deliveries': 'endpoint',
  '/v1/webhook_endpoints/{id}/roll_secret': 'endpoint',
};
/** The kind of objects in nested lists. */
export const WITHIN: Record<string, Kind> = {
  '/v1/checkout/sessions/{id}/line_items': 'lineItem',
  '/v1/webhook_endpoints/{id}/deliveries': 'delivery',
};
export const CURSORS = ['starting_after', 'ending_before'];

/** Bodies that are valid for the caller's own object. */
export const BODIES: Record<string, object> = {
  'POST /v1/checkout/sessions': {
    line_items: [{ price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } }],
  },
  'POST /v1/refunds': { payment: newId('pay_') },
  'POST /v1/webhook_endpoints': { url: 'https://1.1.1.1/' },
};

export const PREFIXES: Record<Kind, IdPrefix> = {
  session: 'cs_test_',
  payment: 'pay_',
  event: 'evt_',
  refund: 're_',
  endpoint: 'we_',
  key: 'key_',
  delivery: 'wd_',
  lineItem: 'li_',
};
