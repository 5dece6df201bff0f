import {
  CreateCheckoutSession,
  ExpireCheckoutSession,
  ListCheckoutSessions,
  ListLineItems,
  RetrieveCheckoutSession,
} from '../v1/checkout-sessions/schema.js';
import { ListEvents, ResendEvent } from '../v1/events/schema.js';
import { CreateKey, ListKeys } from '../v1/keys/schema.js';
import { ListPayments } from '../v1/payments/schema.js';
import { CancelRefund, CreateRefund, ListRefunds } from '../v1/refunds/schema.js';
import { ListDailyReports } from '../v1/reports/schema.js';
import {
  CreateWebhookEndpoint,
  ListDeliveries,
  ListWebhookEndpoints,
  RollWebhookSecret,
  UpdateWebhookEndpoint,
} from '../v1/webhook-endpoints/schema.js';
import { describeOperation, type Operation } from './describe-operation.js';

/** The error statuses of an operation. No 404 where nothing is looked up by an id. */
const WITH_ID = [400, 401, 404, 429, 500, 503];
const WITHOUT_ID = [400, 401, 429, 500, 503];
const SESSION_ID = 'The id of a checkout session, cs_live_… or cs_test_….';
const PAYMENT_ID = 'The id of a payment, pay_….';
const EVENT_ID = 'The id of an event, evt_….';
const KEY_ID = 'The id of a checkout key, key_….';
const REFUND_ID = 'The id of a refund, re_….';
const ENDPOINT_ID = 'The id of a webhook endpoint, we_….';

const AS_TABLE =
  'To `Accept: text/csv`: a line of names, then one line for each object of the filters, newest first, all of them. `limit` and the cursors are refused. Amounts are decimal text, times RFC 3339 in UTC; a cell that a spreadsheet would run is preceded by an apostrophe.';

type Method = 'get' | 'post' | 'delete';

/** The operations that take a checkout key, and `POST /v1/keys`. */
const OPERATIONS: Record<string, Partial<Record<Method, Operation>>> = {
  '/v1/checkout/sessions': {
    post: {
      id: 'createCheckoutSession',
      summary: 'Create a checkout session',
      body: CreateCheckoutSession,
      answer: 'CheckoutSession',
      statuses: WITHOUT_ID,
    },
    get: {
      id: 'listCheckoutSessions',
      summary: 'List checkout sessions, newest first',
      query: ListCheckoutSessions,
      answer: 'CheckoutSessionList',
    },
  },
  '/v1/checkout/sessions/{id}': {
    get: {
      id: 'retrieveCheckoutSession',
      summary: 'Retrieve a checkout session',
      pathId: SESSION_ID,
      query: RetrieveCheckoutSession,
      answer: 'CheckoutSession',
    },
  },
  '/v1/checkout/sessions/{id}/expire': {
    post: {
      id: 'expireCheckoutSession',
      summary: 'Expire an open checkout session',
      pathId: SESSION_ID,
      body: ExpireCheckoutSession,
      answer: 'CheckoutSession',
    },
  },
  '/v1/checkout/sessions/{id}/line_items': {
    get: {
      id: 'listLineItems',
      summary: 'List the line items of a checkout session',
      pathId: SESSION_ID,
      query: ListLineItems,
      answer: 'LineItemList',
    },
  },
  '/v1/payments': {
    get: {
      id: 'listPayments',
      summary: 'List succeeded payments, newest first',
      query: ListPayments,
      answer: 'PaymentList',
      csv: AS_TABLE,
    },
  },
  '/v1/payments/{id}': {
    get: {
      id: 'retrievePayment',
      summary: 'Retrieve a payment, whatever came of it',
      pathId: PAYMENT_ID,
      answer: 'Payment',
    },
  },
  '/v1/events': {
    get: {
      id: 'listEvents',
      summary: 'List events as they were delivered, newest first',
      query: ListEvents,
      answer: 'EventList',
    },
  },
  '/v1/events/{id}': {
    get: {
      id: 'retrieveEvent',
      summary: 'Retrieve an event as it was delivered',
      pathId: EVENT_ID,
      answer: 'Event',
    },
  },
  '/v1/events/{id}/resend': {
    post: {
      id: 'resendEvent',
      summary: 'Deliver an event again, under the same id',
      pathId: EVENT_ID,
      body: ResendEvent,
      answer: 'Event',
    },
  },
  '/v1/refunds': {
    post: {
      id: 'createRefund',
      summary: 'Create a refund: a link over which you give a payment back',
      body: CreateRefund,
      answer: 'Refund',
    },
    get: {
      id: 'listRefunds',
      summary: 'List refunds, newest first',
      query: ListRefunds,
      answer: 'RefundList',
      csv: AS_TABLE,
    },
  },
  '/v1/refunds/{id}': {
    get: {
      id: 'retrieveRefund',
      summary: 'Retrieve a refund',
      pathId: REFUND_ID,
      answer: 'Refund',
    },
  },
  '/v1/refunds/{id}/cancel': {
    post: {
      id: 'cancelRefund',
      summary: 'Cancel a refund that nobody has paid',
      pathId: REFUND_ID,
      body: CancelRefund,
      answer: 'Refund',
    },
  },
  '/v1/reports/daily': {
    get: {
      id: 'listDailyReports',
      summary: 'Report what was paid and refunded on each day, the first day first',
      query: ListDailyReports,
      answer: 'DailyReportList',
      csv: 'To `Accept: text/csv`: a line of names, then one line for each day. Amounts are decimal text.',
      statuses: WITHOUT_ID,
    },
  },
  '/v1/webhook_endpoints': {
    post: {
      id: 'createWebhookEndpoint',
      summary: 'Create a webhook endpoint; the answer holds its signing secret',
      body: CreateWebhookEndpoint,
      answer: 'WebhookEndpoint',
      statuses: WITHOUT_ID,
    },
    get: {
      id: 'listWebhookEndpoints',
      summary: 'List the webhook endpoints of this mode',
      query: ListWebhookEndpoints,
      answer: 'WebhookEndpointList',
    },
  },
  '/v1/webhook_endpoints/{id}': {
    get: {
      id: 'retrieveWebhookEndpoint',
      summary: 'Retrieve a webhook endpoint',
      pathId: ENDPOINT_ID,
      answer: 'WebhookEndpoint',
    },
    post: {
      id: 'updateWebhookEndpoint',
      summary: 'Change, disable or enable a webhook endpoint',
      pathId: ENDPOINT_ID,
      body: UpdateWebhookEndpoint,
      answer: 'WebhookEndpoint',
    },
    delete: {
      id: 'deleteWebhookEndpoint',
      summary: 'Delete a webhook endpoint and drop its pending deliveries',
      pathId: ENDPOINT_ID,
      answer: 'DeletedWebhookEndpoint',
    },
  },
  '/v1/webhook_endpoints/{id}/deliveries': {
    get: {
      id: 'listWebhookDeliveries',
      summary: 'List the deliveries to a webhook endpoint with each try, newest first',
      pathId: ENDPOINT_ID,
      query: ListDeliveries,
      answer: 'WebhookDeliveryList',
    },
  },
  '/v1/webhook_endpoints/{id}/roll_secret': {
    post: {
      id: 'rollWebhookSecret',
      summary: 'Replace the signing secret; for a while the one before signs, too',
      pathId: ENDPOINT_ID,
      body: RollWebhookSecret,
      answer: 'WebhookEndpoint',
    },
  },
  '/v1/keys': {
    get: {
      id: 'listKeys',
      summary: 'List the checkout keys of this mode, newest first',
      query: ListKeys,
      answer: 'ApiKeyList',
    },
    post: {
      id: 'createKey',
      summary: 'Exchange a facilitator-signed token for a checkout key on the same account',
      body: CreateKey,
      answer: 'ApiKey',
      statuses: WITHOUT_ID,
      security: 'facilitatorToken',
    },
  },
  '/v1/keys/{id}': {
    delete: {
      id: 'deleteKey',
      summary: 'Delete a checkout key; its next request is refused',
      pathId: KEY_ID,
      answer: 'DeletedApiKey',
    },
  },
};

/** Paths such as `/v1/checkout/sessions/{id}`. */
export const MERCHANT_PATHS: readonly string[] = Object.keys(OPERATIONS);

export function merchantPaths(): Record<string, object> {
  return Object.fromEntries(
    Object.entries(OPERATIONS).map(([path, methods]) => [path, describeMethods(methods)]),
  );
}

function describeMethods(methods: Partial<Record<Method, Operation>>): object {
  return Object.fromEntries(
    Object.entries(methods).map(([method, operation]) => [
      method,
      describeOperation(operation, statusesOf(method, operation)),
    ]),
  );
}

/** 403: a key may be read-only. */
function statusesOf(method: string, { statuses = WITH_ID, security }: Operation): readonly number[] {
  return method !== 'get' && security === undefined ? [...statuses, 403] : statuses;
}

/** Each operation with its method and path. */
export const MERCHANT_ROUTES = Object.entries(OPERATIONS).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    operation,
  })),
);

/** Labels of the request metrics. */
export const MERCHANT_OPERATIONS = MERCHANT_ROUTES.map(({ method, path }) => ({
  method,
  route: path.replaceAll(/\{(\w+)\}/g, ':$1'),
}));
