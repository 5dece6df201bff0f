import type { LinkSchemaName } from './link-schemas.js';

interface Answer {
  description: string;
  schemas: readonly (LinkSchemaName | 'Error')[];
  headers?: readonly (keyof typeof HEADERS)[];
}

const HEADERS = {
  'PAYMENT-REQUIRED': 'The body, in base64.',
  'PAYMENT-RESPONSE':
    'base64 of JSON: success, transaction, network, payer; with the signed receipt in extensions.',
  'Retry-After': 'Seconds.',
  Link: 'service-desc: this document. service-doc: the same in prose. monitor: how the session stands.',
} as const;

/** The connection's own answers, before a request reaches its path: never a page, and in the form of /v1. */
const UNREAD: Record<number, Answer> = {
  408: { description: 'The request took too long to arrive.', schemas: ['Error'] },
  431: { description: 'Too many headers, or too long ones.', schemas: ['Error'] },
};
const FAILED: Answer = { description: 'A problem on the service side; retry.', schemas: ['BuyerError'] };

const ANSWERS: Record<number, Answer> = {
  200: {
    description: 'Paid. As a page also while the link waits for a payment or confirms one.',
    schemas: ['X402Receipt'],
    headers: ['PAYMENT-RESPONSE', 'Link'],
  },
  202: {
    description: 'A payment is being confirmed. Send GET without a payment header until 200.',
    schemas: ['X402Processing'],
    headers: ['Retry-After', 'Link'],
  },
  400: {
    description: 'The payment header is no x402 payment payload, or the request is no valid HTTP/1.1.',
    schemas: ['BuyerError', 'Error'],
  },
  402: {
    description:
      'To be paid, or the signed payment failed. No money moved, unless `error` says that the payment may have been taken: with the code `outcome_unknown`, or with the code of a used payload whose chain cannot be read.',
    schemas: ['PaymentRequired'],
    headers: ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'Link'],
  },
  404: { description: 'No session has this id.', schemas: ['BuyerError'] },
  409: {
    description:
      'Another payment is in progress or has paid, or this one was used before. With PAYMENT-RESPONSE when it was this one that paid.',
    schemas: ['X402Processing', 'BuyerError'],
    headers: ['Retry-After', 'PAYMENT-RESPONSE', 'Link'],
  },
  410: {
    description:
      'The session has expired. The message says so when its last payment may have been taken, and names it.',
    schemas: ['BuyerError'],
  },
  429: {
    description: 'Too many requests from this address.',
    schemas: ['BuyerError'],
    headers: ['Retry-After'],
  },
  500: FAILED,
  503: {
    description: 'Payments cannot be taken right now. The same signature may be sent again; it pays once.',
    schemas: ['BuyerError'],
    headers: ['Retry-After'],
  },
};

/** Routes without authentication: the payment link and the JWKS document. */
export function linkPaths(): Record<string, object> {
  return {
    '/c/{id}': {
      get: payment('payLink', 'Ask for a payment link, or pay it over x402'),
      post: payment('payLinkByPost', 'The same'),
    },
    '/c/{id}/status': {
      get: {
        operationId: 'retrieveLinkStatus',
        summary: "How a session stands; always 200, and not counted in the link's limit",
        security: [],
        parameters: [SESSION_ID],
        responses: {
          200: answerOf({ description: 'How it stands.', schemas: ['LinkStatus'] }),
          404: answerOf({ description: 'No session has this id.', schemas: ['BuyerError'] }),
          500: answerOf(FAILED),
          503: answerOf({
            description: 'The service is busy, or has no database to read.',
            schemas: ['BuyerError'],
            headers: ['Retry-After'],
          }),
          ...unread(),
        },
      },
    },
    '/.well-known/jwks.json': {
      get: {
        operationId: 'retrieveReceiptKeys',
        summary: 'The public keys that signed receipts are checked with',
        security: [],
        parameters: [],
        responses: {
          200: answerOf({ description: 'The key set.', schemas: ['JsonWebKeySet'] }),
          ...unread(),
        },
      },
    },
  };
}

const SESSION_ID = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of a checkout session, cs_live_… or cs_test_…, or of a refund, re_….',
  schema: { type: 'string' },
};

function payment(operationId: string, summary: string): object {
  return {
    operationId,
    summary,
    security: [],
    parameters: [
      SESSION_ID,
      query('network', 'A CAIP-2 id: `accepts` holds only entries of this network.'),
      query('token', 'A symbol or an address: `accepts` holds only entries of this token.'),
      header(
        'PAYMENT-SIGNATURE',
        'base64 of a JSON PaymentPayload (x402 version 2) for one entry of `accepts`.',
      ),
      header('X-PAYMENT', 'The same, or a payload of version 1.'),
    ],
    responses: {
      ...Object.fromEntries(
        Object.entries(ANSWERS).map(([status, answer]) => [status, answerOf(answer, PAGE)]),
      ),
      ...unread(),
    },
  };
}

function unread(): Record<string, object> {
  return Object.fromEntries(Object.entries(UNREAD).map(([status, answer]) => [status, answerOf(answer)]));
}

const PAGE = {
  'text/html': {
    schema: { type: 'string', description: 'The page, when text/html is in the Accept header.' },
  },
};

function query(name: string, description: string): object {
  return { name, in: 'query', description, schema: { type: 'string' } };
}

function header(name: string, description: string): object {
  return { name, in: 'header', description, schema: { type: 'string' } };
}

function answerOf({ description, schemas, headers = [] }: Answer, other: object = {}): object {
  const refs = schemas.map((name) => ({ $ref: `#/components/schemas/${name}` }));
  return {
    description,
    headers: Object.fromEntries(
      headers.map((name) => [name, { description: HEADERS[name], schema: { type: 'string' } }]),
    ),
    content: { 'application/json': { schema: refs.length === 1 ? refs[0] : { anyOf: refs } }, ...other },
  };
}
