import { API_VERSION, EVENT_TYPES, type EventType } from '../../shared/webhooks/event-types.js';
import { publicSchema } from '../input/public-schema.js';
import { linkPaths } from './link-paths.js';
import { LINK_SCHEMAS } from './link-schemas.js';
import { merchantPaths } from './merchant-paths.js';
import { RESOURCE_SCHEMAS } from './resource-schemas.js';

/** OpenAPI 3.1, generated from the schemas that validate requests. */
export function openApiDocument(baseUrl: string): object {
  return publicSchema({
    openapi: '3.1.0',
    info: {
      title: 'Stablecoin Checkout',
      version: API_VERSION,
      description:
        'A hosted checkout for stablecoin payments: one link that people and AI agents pay. The same operations are MCP tools at /mcp, with the same keys.',
    },
    servers: [{ url: baseUrl }],
    security: [{ checkoutKey: [] }, { checkoutKeyAsUser: [] }],
    paths: { ...merchantPaths(), ...linkPaths() },
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
  });
}

const EVENT_MEANINGS: Record<EventType, string> = {
  'checkout.session.completed': 'A session was paid.',
  'checkout.session.expired': 'A session expired, by its time or by you.',
  'refund.created': 'You made a refund; its link waits for your payment.',
  'refund.updated': 'The status of a refund changed.',
};

/** `receiveCheckoutSessionCompleted`: an identifier in every language that code is generated for. */
function receiverName(type: EventType): string {
  const words = type.split('.').map((word) => word[0]?.toUpperCase() + word.slice(1));
  return `receive${words.join('')}`;
}

function delivery(type: EventType): object {
  return {
    operationId: receiverName(type),
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
