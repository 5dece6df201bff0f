import { gzipSync } from 'node:zlib';
import fc, { type Arbitrary } from 'fast-check';
import { openApiDocument } from '../../../api/openapi/document.js';
import { formText } from '../api-client.js';
import {
  damage,
  damages,
  hostileName,
  hostileText,
  hostileValue,
  type Json,
  jsonText,
  Raw,
  seldom,
} from './hostile-values.js';

/** A request before it is known which ids and keys there are: `id` and `key` choose from what there is by then. */
export interface Hostile {
  method: string;
  path: string;
  id: number;
  key: number;
  headers: [name: string, value: string][];
  body: Buffer | undefined;
}

/** Where an id of the service goes. */
export const ID = '{id}';

export interface Schema {
  type?: string;
  const?: Json;
  enum?: Json[];
  anyOf?: Schema[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
}

interface Operation {
  parameters: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
}

/** What a schema allows, more or less. */
export function allowed(schema: Schema): Arbitrary<Json> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(allowed));
  switch (schema.type) {
    case 'object':
      return allowedObject(schema);
    case 'array':
      return fc.array(allowed(schema.items ?? {}), {
        minLength: 1,
        maxLength: Math.min(3, schema.maxItems ?? 3),
      });
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 1000, 100_000) });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return allowedText(schema);
  }
}

function allowedObject({ properties = {}, required = [], additionalProperties }: Schema): Arbitrary<Json> {
  if (typeof additionalProperties === 'object') {
    return fc
      .dictionary(hostileName, allowed(additionalProperties), { maxKeys: 3 })
      .map((found) => ({ ...found }));
  }
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, allowed(schema)]),
  );
  return fc.record(members, { requiredKeys: required });
}

function allowedText({ format, pattern }: Schema): Arbitrary<Json> {
  if (format === 'email') return fc.constantFrom('never-in-a-log@mail.example');
  if (format !== undefined)
    return fc.constantFrom('https://1.1.1.1/a', 'https://shop.example/{CHECKOUT_SESSION_ID}');
  if (pattern !== undefined) return fc.nat(99_999).map(String);
  return fc.oneof(hostileText, fc.constant('Coffee'));
}

const bodyOf = (schema: Schema): Arbitrary<Json> =>
  fc.oneof(
    {
      weight: 30,
      arbitrary: fc.tuple(allowed(schema), damages).map(([value, changes]) => damage(value, changes)),
    },
    { weight: 1, arbitrary: hostileValue },
  );

type Encoded = Pick<Hostile, 'body' | 'headers'>;
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

const TYPES = fc.constantFrom(
  JSON_TYPE,
  FORM_TYPE,
  'text/plain',
  'multipart/form-data; boundary=x',
  '',
  'a/b+json',
);
const FORM_PAIRS = fc.constantFrom(
  'line_items[]=1',
  'line_items[a][b]=1',
  'line_items[99999]=',
  'metadata=1',
  'metadata[__proto__]=1',
  '__proto__[polluted]=1',
  'constructor[prototype][polluted]=1',
  'mode=payment&mode=payment',
  '=',
  '&&&',
  '%',
  '%ff=%ff',
  '%00=%00',
  `a${'[x]'.repeat(500)}=1`,
  'a[b=1',
  'expand=line_items',
);

function encode(body: Json): Arbitrary<Encoded> {
  const isTree = typeof body === 'object' && body !== null && !(body instanceof Raw) && !Array.isArray(body);
  return fc
    .record({
      asForm: fc.boolean(),
      pair: seldom(4, FORM_PAIRS),
      /** Most are left whole. */
      cutAt: seldom(30, fc.nat(300)),
      flip: seldom(30, fc.tuple(fc.nat(500), fc.nat(255))),
      type: seldom(30, TYPES),
      zipped: fc.integer({ min: 0, max: 19 }),
    })
    .map(({ asForm, pair, cutAt, flip, type, zipped }) => {
      // Neither Raw nor half of a surrogate pair can stand in a form.
      const json = jsonText(body);
      const isForm = asForm && isTree && isPlain(body) && !/\\ud[89a-f]/.test(json);
      let bytes = Buffer.from(isForm ? [formText(body), ...(pair === null ? [] : [pair])].join('&') : json);
      if (cutAt !== null) bytes = bytes.subarray(0, cutAt);
      if (flip !== null && bytes.length > 0) bytes[flip[0] % bytes.length] = flip[1];
      const isZipped = zipped === 0;
      return {
        body: isZipped ? gzipSync(bytes) : bytes,
        headers: [
          ['Content-Type', type ?? (isForm ? FORM_TYPE : JSON_TYPE)],
          ...(isZipped ? [['Content-Encoding', 'gzip'] as [string, string]] : []),
        ],
      };
    });
}

function isPlain(value: Json): boolean {
  if (value instanceof Raw) return false;
  return typeof value !== 'object' || value === null || Object.values(value).every(isPlain);
}

/** What may stand in a header at all: no control characters. */
export const headerText = hostileText.map((text) =>
  Buffer.from(text)
    .toString('latin1')
    .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?'),
);
export const idempotencyKey = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'k'.repeat(255), 'k'.repeat(256)),
  headerText,
);

const queryPair = (parameters: Operation['parameters']): Arbitrary<string> => {
  const value = (schema: Schema): Arbitrary<string> =>
    fc.oneof(
      allowed(schema).map((found) => (typeof found === 'object' ? '1' : String(found))),
      hostileText,
      fc.constant(ID),
    );
  const known = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, schema }) => value(schema).map((text) => `${name}=${percent(text)}`));
  const unknown = fc
    .tuple(hostileName, hostileText)
    .map(([name, text]) => `${percent(name)}=${percent(text)}`);
  const broken = fc.constantFrom(
    '%',
    '%ff',
    'created[gte]=1',
    'created[x]=1',
    'limit=1&limit=2',
    '&',
    'a[b',
    '?',
  );
  return fc.oneof(...known, unknown, broken);
};

/** Lone surrogates have no percent-encoding. */
function percent(text: string): string {
  return text === ID ? ID : encodeURIComponent(text.toWellFormed());
}

const hostileSegment = fc.oneof(
  fc.constantFrom(
    '.',
    '..',
    '%2e%2e',
    '%2F',
    '%2f..%2f',
    '%00',
    '%0d%0aX:1',
    '%',
    '%ff',
    '%E2%82%AC',
    '',
    '//',
    ';a=b',
  ),
  hostileText.map(percent),
);
const segment = fc.oneof({ weight: 5, arbitrary: fc.constant(ID) }, { weight: 2, arbitrary: hostileSegment });

function operationRequests(path: string, method: string, operation: Operation): Arbitrary<Hostile> {
  const schema = operation.requestBody?.content['application/json'].schema;
  const encoded: Arbitrary<Encoded> =
    schema === undefined ? fc.constant({ body: undefined, headers: [] }) : bodyOf(schema).chain(encode);
  return fc
    .record({
      method: fc.oneof({ weight: 30, arbitrary: fc.constant(method) }, { weight: 1, arbitrary: METHODS }),
      segment,
      tail: fc.oneof(
        { weight: 30, arbitrary: fc.constant('') },
        { weight: 1, arbitrary: fc.constantFrom('/', '//', '/.', '/%20') },
      ),
      query: fc.oneof(
        { weight: schema === undefined ? 1 : 15, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(queryPair(operation.parameters), { maxLength: 3 }) },
      ),
      id: fc.nat(),
      key: fc.nat(99),
      encoded,
      idempotencyKey: fc.option(idempotencyKey, { freq: 2 }),
    })
    .map(({ segment: part, tail, query, encoded: { headers, body }, idempotencyKey: once, ...rest }) => ({
      ...rest,
      path: path.replace(ID, () => part) + tail + (query.length === 0 ? '' : `?${query.join('&')}`),
      headers: once === null ? headers : [...headers, ['Idempotency-Key', once]],
      body,
    }));
}

export const METHODS = fc.constantFrom(
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'SEARCH',
);

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Payment headers: a good one that was damaged, and things that are none. `payment` is a signed payment's JSON. */
function paymentHeaders(payments: readonly Json[]): Arbitrary<string> {
  const damaged = fc
    .tuple(fc.constantFrom(...payments), damages)
    .map(([payment, changes]) => base64(jsonText(damage(payment, changes))));
  const huge = fc.constantFrom(
    base64(`{"x402Version":2,"accepted":{},"payload":${'['.repeat(5000)}${']'.repeat(5000)}}`),
    base64(`{"x402Version":1e400,"accepted":{},"payload":{}}`),
    'A'.repeat(16_384),
    'A'.repeat(16_388),
  );
  return fc.oneof(
    { weight: 8, arbitrary: damaged },
    { weight: 2, arbitrary: hostileValue.map((value) => base64(jsonText(value))) },
    { weight: 1, arbitrary: headerText },
    { weight: 1, arbitrary: fc.base64String({ maxLength: 100 }) },
    { weight: 1, arbitrary: huge },
  );
}

function linkRequests(payments: readonly Json[]): Arbitrary<Hostile> {
  return fc
    .record({
      method: fc.oneof(
        { weight: 20, arbitrary: fc.constantFrom('GET', 'GET', 'POST') },
        { weight: 1, arbitrary: METHODS },
      ),
      segment,
      query: fc.option(queryPair([]), { freq: 8 }),
      id: fc.nat(),
      key: fc.constant(0),
      payment: fc.option(
        fc.tuple(
          fc.constantFrom('PAYMENT-SIGNATURE', 'X-PAYMENT', 'payment-signature'),
          paymentHeaders(payments),
        ),
        { freq: 4 },
      ),
      accept: fc.option(fc.constantFrom('text/html', 'application/json', '*/*', 'text/html;q=x', ', ,'), {
        freq: 3,
      }),
      body: fc.option(hostileText, { freq: 15 }),
    })
    .map(({ segment: part, query, payment, accept, body, ...rest }) => ({
      ...rest,
      path: `/c/${part}${query === null ? '' : `?${query}`}`,
      headers: [
        ...(payment === null ? [] : [payment]),
        ...(accept === null ? [] : [['Accept', accept] as [string, string]]),
      ],
      body: body === null ? undefined : Buffer.from(body),
    }));
}

const elsewhere: Arbitrary<Hostile> = fc.record({
  method: METHODS,
  path: fc.oneof(
    fc.constantFrom(
      '/',
      '/v1',
      '/v1/',
      '/c',
      '/c/',
      '//',
      '/healthz',
      '/openapi.json',
      '/llms.txt',
      '/docs',
      '/docs/assets/reference.AAAAAAAAAA.js',
      '/metrics',
      '/admin/queues',
      '/V1/payments',
      '*',
    ),
    fc.array(hostileSegment, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`),
  ),
  id: fc.nat(),
  key: fc.nat(99),
  headers: fc.array(
    fc.tuple(
      fc.constantFrom('X-Request-Id', 'Cookie', 'Origin', 'Accept', 'Range', 'If-None-Match'),
      headerText,
    ),
    {
      maxLength: 3,
    },
  ),
  body: fc.constant(undefined),
});

/** The operations of the OpenAPI document equally often, the link more often, and what is neither. */
export function hostileRequests(payments: readonly Json[]): Arbitrary<Hostile> {
  const { paths } = openApiDocument('https://pay.example') as {
    paths: Record<string, Record<string, Operation>>;
  };
  const ofMerchants = Object.entries(paths).filter(([path]) => path.startsWith('/v1/'));
  const operations = ofMerchants.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      weight: operation.requestBody === undefined ? 2 : 4,
      arbitrary: operationRequests(path, method.toUpperCase(), operation),
    })),
  );
  return fc.oneof(
    ...operations,
    { weight: 18, arbitrary: linkRequests(payments) },
    { weight: 2, arbitrary: elsewhere },
  );
}
