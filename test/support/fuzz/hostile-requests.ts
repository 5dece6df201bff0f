import fc, { type Arbitrary } from 'fast-check';
import { openApiDocument } from '../../../api/openapi/document.js';
import { allowed, bodyOf, type Encoded, encode, type Schema } from './hostile-bodies.js';
import {
  damage,
  damages,
  hostileName,
  hostileText,
  hostileValue,
  type Json,
  jsonText,
} from './hostile-values.js';

/** A request template. `id` and `key` are indexes into the ids and keys known when it is sent. */
export interface Hostile {
  method: string;
  path: string;
  id: number;
  key: number;
  headers: [name: string, value: string][];
  body: Buffer | undefined;
}

/** Placeholder for an id. */
export const ID = '{id}';

interface Operation {
  parameters: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
}

/** Text that a header may contain: no control characters. */
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

/** Payment headers: damaged payments and invalid values. `payments`: signed payments as JSON. */
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

/** All operations of the OpenAPI document, with links weighted higher, and a few other paths. */
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
