import {
  CreateCheckoutSession,
  ExpireCheckoutSession,
  ListCheckoutSessions,
  ListLineItems,
  RetrieveCheckoutSession,
} from '../v1/checkout-sessions/schema.js';
import { CreateKey } from '../v1/keys/schema.js';
import { ListPayments } from '../v1/payments/schema.js';
import {
  CreateWebhookEndpoint,
  ListWebhookEndpoints,
  UpdateWebhookEndpoint,
} from '../v1/webhook-endpoints/schema.js';
import { describeOperation, type Operation } from './describe-operation.js';

const WITHOUT_ID = [400, 401, 429, 500];
const WITH_ID = [400, 401, 404, 429, 500];
export const SESSION_ID = 'The id of a checkout session, cs_live_… or cs_test_….';
export const ENDPOINT_ID = 'The id of a webhook endpoint, we_….';

type Method = 'get' | 'post' | 'delete';

/** What a checkout key opens, and how an agent gets one. */
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
      statuses: WITH_ID,
    },
  },
  '/v1/checkout/sessions/{id}': {
    get: {
      id: 'retrieveCheckoutSession',
      summary: 'Retrieve a checkout session',
      pathId: SESSION_ID,
      query: RetrieveCheckoutSession,
      answer: 'CheckoutSession',
      statuses: WITH_ID,
    },
  },
  '/v1/checkout/sessions/{id}/expire': {
    post: {
      id: 'expireCheckoutSession',
      summary: 'Expire an open checkout session',
      pathId: SESSION_ID,
      body: ExpireCheckoutSession,
      answer: 'CheckoutSession',
      statuses: WITH_ID,
    },
  },
  '/v1/checkout/sessions/{id}/line_items': {
    get: {
      id: 'listLineItems',
      summary: 'List the line items of a checkout session',
      pathId: SESSION_ID,
      query: ListLineItems,
      answer: 'LineItemList',
      statuses: WITH_ID,
    },
  },
  '/v1/payments': {
    get: {
      id: 'listPayments',
      summary: 'List succeeded payments, newest first',
      query: ListPayments,
      answer: 'PaymentList',
      statuses: WITH_ID,
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
      statuses: WITH_ID,
    },
  },
  '/v1/webhook_endpoints/{id}': {
    get: {
      id: 'retrieveWebhookEndpoint',
      summary: 'Retrieve a webhook endpoint',
      pathId: ENDPOINT_ID,
      answer: 'WebhookEndpoint',
      statuses: WITH_ID,
    },
    post: {
      id: 'updateWebhookEndpoint',
      summary: 'Change, disable or enable a webhook endpoint',
      pathId: ENDPOINT_ID,
      body: UpdateWebhookEndpoint,
      answer: 'WebhookEndpoint',
      statuses: WITH_ID,
    },
    delete: {
      id: 'deleteWebhookEndpoint',
      summary: 'Delete a webhook endpoint and drop its pending deliveries',
      pathId: ENDPOINT_ID,
      answer: 'DeletedWebhookEndpoint',
      statuses: WITH_ID,
    },
  },
  '/v1/keys': {
    post: {
      id: 'createKey',
      summary: 'Exchange a facilitator-signed token for a checkout key on the same account',
      body: CreateKey,
      answer: 'ApiKey',
      statuses: WITHOUT_ID,
      security: 'facilitatorToken',
    },
  },
};

/** `/v1/checkout/sessions/{id}` and the like. */
export const MERCHANT_PATHS: readonly string[] = Object.keys(OPERATIONS);

export function merchantPaths(): Record<string, object> {
  return Object.fromEntries(
    Object.entries(OPERATIONS).map(([path, methods]) => [path, describeMethods(methods)]),
  );
}

function describeMethods(methods: Partial<Record<Method, Operation>>): object {
  return Object.fromEntries(
    Object.entries(methods).map(([method, operation]) => [method, describeOperation(operation)]),
  );
}

/** As they are counted. */
export const MERCHANT_OPERATIONS: readonly { method: string; route: string }[] = Object.entries(
  OPERATIONS,
).flatMap(([path, operations]) =>
  Object.keys(operations).map((method) => ({
    method: method.toUpperCase(),
    route: path.replaceAll(/\{(\w+)\}/g, ':$1'),
  })),
);
