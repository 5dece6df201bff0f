import type { TSchema } from 'typebox';
import { API_VERSION, EVENT_TYPES, type EventType } from '../../shared/domain/webhook-event.js';
import { LINK_SCHEMAS } from '../payment-link/link-schemas.js';
import { linkPaths } from '../payment-link/openapi.js';
import {
  CreateCheckoutSession,
  ExpireCheckoutSession,
  ListCheckoutSessions,
  ListLineItems,
  RetrieveCheckoutSession,
} from './checkout-sessions/schema.js';
import { CreateKey } from './keys/schema.js';
import { ListPayments } from './payments/schema.js';
import { RESOURCE_SCHEMAS, type ResourceName } from './resource-schemas.js';
import {
  CreateWebhookEndpoint,
  ListWebhookEndpoints,
  UpdateWebhookEndpoint,
} from './webhook-endpoints/schema.js';

interface ObjectSchema extends TSchema {
  properties: Record<string, TSchema>;
  required?: readonly string[] | undefined;
}

/** `/v1/checkout/sessions/{id}` and the like. */
export function apiPaths(): string[] {
  return Object.keys(paths());
}

interface Operation {
  id: string;
  summary: string;
  answer: ResourceName;
  query?: ObjectSchema;
  body?: ObjectSchema;
  pathId?: string;
  statuses: readonly number[];
  security?: 'checkoutKey' | 'facilitatorToken';
}

const WITHOUT_ID = [400, 401, 429, 500];
const WITH_ID = [400, 401, 404, 429, 500];
export const SESSION_ID = 'The id of a checkout session, cs_live_… or cs_test_….';
export const ENDPOINT_ID = 'The id of a webhook endpoint, we_….';

/** OpenAPI 3.1, made from the very schemas that validate requests. */
export function openApiDocument(baseUrl: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Stablecoin Checkout',
      version: API_VERSION,
      description:
        'A hosted checkout for stablecoin payments: one link that people and AI agents pay. The same operations are MCP tools at /mcp, with the same keys.',
    },
    servers: [{ url: baseUrl }],
    security: [{ checkoutKey: [] }, { checkoutKeyAsUser: [] }],
    paths: { ...paths(), ...linkPaths() },
    webhooks: Object.fromEntries(EVENT_TYPES.map((type) => [type, { post: delivery(type) }])),
    components: {
      schemas: { ...RESOURCE_SCHEMAS, ...LINK_SCHEMAS },
      securitySchemes: {
        checkoutKey: { type: 'http', scheme: 'bearer', description: 'svc_ck_live_… or svc_ck_test_…' },
        checkoutKeyAsUser: {
          type: 'http',
          scheme: 'basic',
          description: 'The key as user name, no password.',
        },
        facilitatorToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'EdDSA, signed with a registered facilitator key.',
        },
      },
    },
  };
}

function paths(): Record<string, object> {
  return {
    '/v1/checkout/sessions': {
      post: operation({
        id: 'createCheckoutSession',
        summary: 'Create a checkout session',
        body: CreateCheckoutSession,
        answer: 'CheckoutSession',
        statuses: WITHOUT_ID,
      }),
      get: operation({
        id: 'listCheckoutSessions',
        summary: 'List checkout sessions, newest first',
        query: ListCheckoutSessions,
        answer: 'CheckoutSessionList',
        statuses: WITH_ID,
      }),
    },
    '/v1/checkout/sessions/{id}': {
      get: operation({
        id: 'retrieveCheckoutSession',
        summary: 'Retrieve a checkout session',
        pathId: SESSION_ID,
        query: RetrieveCheckoutSession,
        answer: 'CheckoutSession',
        statuses: WITH_ID,
      }),
    },
    '/v1/checkout/sessions/{id}/expire': {
      post: operation({
        id: 'expireCheckoutSession',
        summary: 'Expire an open checkout session',
        pathId: SESSION_ID,
        body: ExpireCheckoutSession,
        answer: 'CheckoutSession',
        statuses: WITH_ID,
      }),
    },
    '/v1/checkout/sessions/{id}/line_items': {
      get: operation({
        id: 'listLineItems',
        summary: 'List the line items of a checkout session',
        pathId: SESSION_ID,
        query: ListLineItems,
        answer: 'LineItemList',
        statuses: WITH_ID,
      }),
    },
    '/v1/payments': {
      get: operation({
        id: 'listPayments',
        summary: 'List succeeded payments, newest first',
        query: ListPayments,
        answer: 'PaymentList',
        statuses: WITH_ID,
      }),
    },
    '/v1/webhook_endpoints': {
      post: operation({
        id: 'createWebhookEndpoint',
        summary: 'Create a webhook endpoint; the answer holds its signing secret',
        body: CreateWebhookEndpoint,
        answer: 'WebhookEndpoint',
        statuses: WITHOUT_ID,
      }),
      get: operation({
        id: 'listWebhookEndpoints',
        summary: 'List the webhook endpoints of this mode',
        query: ListWebhookEndpoints,
        answer: 'WebhookEndpointList',
        statuses: WITH_ID,
      }),
    },
    '/v1/webhook_endpoints/{id}': {
      get: operation({
        id: 'retrieveWebhookEndpoint',
        summary: 'Retrieve a webhook endpoint',
        pathId: ENDPOINT_ID,
        answer: 'WebhookEndpoint',
        statuses: WITH_ID,
      }),
      post: operation({
        id: 'updateWebhookEndpoint',
        summary: 'Change, disable or enable a webhook endpoint',
        pathId: ENDPOINT_ID,
        body: UpdateWebhookEndpoint,
        answer: 'WebhookEndpoint',
        statuses: WITH_ID,
      }),
      delete: operation({
        id: 'deleteWebhookEndpoint',
        summary: 'Delete a webhook endpoint and drop its pending deliveries',
        pathId: ENDPOINT_ID,
        answer: 'DeletedWebhookEndpoint',
        statuses: WITH_ID,
      }),
    },
    '/v1/keys': {
      post: operation({
        id: 'createKey',
        summary: 'Exchange a facilitator-signed token for a checkout key on the same account',
        body: CreateKey,
        answer: 'ApiKey',
        statuses: WITHOUT_ID,
        security: 'facilitatorToken',
      }),
    },
  };
}

function operation({ id, summary, answer, query, body, pathId, statuses, security }: Operation): object {
  return {
    operationId: id,
    summary,
    ...(security !== undefined && { security: [{ [security]: [] }] }),
    parameters: [
      ...(pathId === undefined ? [] : [pathParameter(pathId)]),
      ...(body === undefined ? [] : [IDEMPOTENCY_KEY]),
      ...Object.entries(query?.properties ?? {}).map(([name, schema]) => queryParameter(name, schema)),
    ],
    ...(body !== undefined && { requestBody: requestBody(body) }),
    responses: {
      200: answerOf(summary, answer),
      ...Object.fromEntries(
        statuses.map((status) => [status, answerOf(ERROR_MEANINGS[status] ?? '', 'Error')]),
      ),
    },
  };
}

const EVENT_MEANINGS: Record<EventType, string> = {
  'checkout.session.completed': 'A session was paid.',
  'checkout.session.expired': 'A session expired, by its time or by you.',
};

function delivery(type: EventType): object {
  return {
    operationId: `receive ${type}`,
    summary: EVENT_MEANINGS[type],
    security: [],
    parameters: [
      {
        name: 'Service-Signature',
        in: 'header',
        required: true,
        description:
          't=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<raw body>">, keyed with the whole whsec_… secret.',
        schema: { type: 'string' },
      },
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Event' } } },
    },
    responses: {
      '2XX': { description: 'Received, within 10 seconds. Anything else is tried again for 3 days.' },
    },
  };
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A retry with the same key and body gets the first answer again, for 24 hours.',
  schema: { type: 'string', maxLength: 255 },
};

const ERROR_MEANINGS: Record<number, string> = {
  400: 'A parameter is missing or not valid.',
  401: 'The key is missing, invalid or revoked.',
  404: 'No object has this id in this mode.',
  429: 'Too many requests.',
  500: 'A problem on the service side; retry.',
};

function pathParameter(description: string): object {
  return { name: 'id', in: 'path', required: true, description, schema: { type: 'string' } };
}

function queryParameter(
  name: string,
  { description, ...schema }: TSchema & { description?: string },
): object {
  const isArray = 'type' in schema && schema.type === 'array';
  const holdsObject = 'anyOf' in schema;
  return {
    name: isArray ? `${name}[]` : name,
    in: 'query',
    ...(description !== undefined && { description }),
    ...(holdsObject && { style: 'deepObject' }),
    schema,
  };
}

function requestBody(schema: ObjectSchema): object {
  return {
    required: (schema.required ?? []).length > 0,
    content: {
      'application/json': { schema },
      'application/x-www-form-urlencoded': { schema },
    },
  };
}

function answerOf(description: string, name: ResourceName): object {
  return {
    description,
    headers: { 'Request-Id': { description: 'Give it to support.', schema: { type: 'string' } } },
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
  };
}
