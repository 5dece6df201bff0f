import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import request, { type Response, type Test } from 'supertest';
import type { ErrorType } from '../../api/errors/catalog.js';
import { openApiDocument } from '../../api/openapi/document.js';
import { buildMerchant } from '../../lab/world/shop/factories.js';
import { addFacilitatorKey } from '../../shared/accounts/facilitator-keys.js';
import type { Knex } from '../../shared/db/knex.js';
import { nowMs } from '../../shared/process/clock.js';
import type { TestApp } from './app.js';

/**
 * A merchant's client of /v1. In every spec, each answer is also validated against the OpenAPI document: a 200
 * against the schema of its operation, any other status against the Error object.
 */
export interface Client {
  get(path: string): Test;
  /** Sends JSON; a string is sent unchanged. */
  post(path: string, body?: object | string): Test;
  /** Sends Stripe's form encoding; a string is sent unchanged. */
  form(path: string, body: object | string): Test;
  delete(path: string): Test;
  /** Sends a body as JSON. */
  send(method: Method, path: string, body?: object | string): Test;
}

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'head' | 'options';

export function client(app: Pick<TestApp, 'server'>, key?: string): Client {
  const send = (method: Method, path: string, body?: object | string): Test => {
    const test = request(app.server)[method](path);
    if (key !== undefined) test.set('Authorization', `Bearer ${key}`);
    test.expect((res) => assertAsDocumented(res, method.toUpperCase(), path));
    if (body === undefined) return test;
    return test.type('json').send(typeof body === 'string' ? body : JSON.stringify(body));
  };
  return {
    send,
    get: (path) => send('get', path),
    delete: (path) => send('delete', path),
    post: (path, body) => send('post', path, body),
    form: (path, body) =>
      send('post', path)
        .type('form')
        .send(typeof body === 'string' ? body : formText(body)),
  };
}

/** Asks for a table as CSV, unless `accept` says otherwise. */
export function askCsv(app: Pick<TestApp, 'server'>, key: string, path: string, accept = 'text/csv'): Test {
  return request(app.server)
    .get(path)
    .set({ Authorization: `Bearer ${key}`, Accept: accept });
}

/** Encodes `{a: [{b: 1}]}` as `a[0][b]=1`, as Stripe's own clients do; null is an empty value. */
export function formText(body: object): string {
  return pairsOf(body, '')
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
}

function pairsOf(value: unknown, name: string): [name: string, value: string][] {
  if (typeof value !== 'object' || value === null) return [[name, String(value ?? '')]];
  return Object.entries(value).flatMap(([key, member]) => {
    const part = encodeURIComponent(key);
    return pairsOf(member, name === '' ? part : `${name}[${part}]`);
  });
}

/** On a busy machine a request may wait too long for a connection: it is answered 429, and has done nothing. */
export async function untilTaken(send: () => Test): Promise<Response> {
  const res = await send();
  return res.status === 429 ? await untilTaken(send) : res;
}

function typeOf(status: number, code: string): ErrorType {
  if (status === 401) return 'authentication_error';
  if (status >= 500) return 'api_error';
  return code.startsWith('idempotency_') ? 'idempotency_error' : 'invalid_request_error';
}

/** Asserts a complete Error object: a message that is a sentence without internals, and the headers of its status. */
export function assertRefusal(res: Response, status: number, code: string, param?: string): void {
  assert.equal(res.status, status, res.text);
  assert.deepEqual(Object.keys(res.body), ['error']);
  const { message, doc_url: docUrl, request_id: requestId, ...named } = res.body.error;
  assert.deepEqual(
    named,
    { type: typeOf(status, code), code, ...(param !== undefined && { param }) },
    message,
  );
  assert.equal(requestId, res.get('Request-Id'));
  assert.match(docUrl, new RegExp(`^https?://[^/]+/docs/errors#${code}$`));
  assert.match(message, /^\S+ \S+ .*[.!]$/, `"${message}" is not a sentence`);
  assert.doesNotMatch(
    message,
    /\n|\bat \S+:\d+|\b(select|insert|update) .* (from|into|set)\b|undefined|\[object/i,
  );
  if (status === 401) assert.match(res.get('WWW-Authenticate') ?? '', /^Bearer realm="[^"]+"/);
  if (status === 405) assert.match(res.get('Allow') ?? '', /^[A-Z]+(, [A-Z]+)*$/);
  if (status === 429 || status === 503) assert.match(res.get('Retry-After') ?? '', /^[1-9][0-9]*$/);
}

/** Asserts the usual refusal: 400 with the parameter at fault. */
export function assertInvalid(res: Response, code: string, param?: string): void {
  assertRefusal(res, 400, code, param);
}

/** Sends the body as JSON and as a form, and asserts the usual refusal of both. */
export async function assertBothInvalid(
  api: Client,
  path: string,
  body: object,
  code: string,
  param?: string,
): Promise<void> {
  assertInvalid(await api.post(path, body), code, param);
  assertInvalid(await api.form(path, body), code, param);
}

export function assertMissing(res: Response, param = 'id'): void {
  assertRefusal(res, 404, 'resource_missing', param);
}

export function assertUnauthenticated(res: Response, code: string): void {
  assertRefusal(res, 401, code);
}

export function assertLimited(res: Response): void {
  assertRefusal(res, 429, 'rate_limit');
}

/** Replaces the ids in the answer's text, so that two objects of the same content are equal. */
export function withoutIds(res: Response): string {
  assert.equal(res.status, 200, res.text);
  return res.text.replaceAll(/\b(cs_live|cs_test|li|we|key|pay)_[A-Za-z0-9]{28}\b/g, '$1_…');
}

/** A merchant's facilitator key, registered with the service: its tokens authorise POST /v1/keys. */
export interface Signer {
  accountId: string;
  keyId: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

type Json = Record<string, unknown>;

/** Creates a new account unless one is given. */
export async function buildSigner(db: Knex, accountId?: string): Promise<Signer> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const keyId = randomUUID();
  const der = publicKey.export({ type: 'spki', format: 'der' });
  const owner = accountId ?? (await buildMerchant(db)).accountId;
  await addFacilitatorKey(db, { accountId: owner, keyId, publicKey: der });
  return { accountId: owner, keyId, privateKey, publicKey };
}

/** A valid token, except for the given claims and header fields; undefined omits one. */
export function signToken(signer: Signer, claims: Json = {}, header: Json = {}): string {
  return jwt(
    { ...headerOf(signer), ...header },
    { ...claimsOf(signer), ...claims },
    eddsa(signer.privateKey),
  );
}

export const headerOf = ({ keyId }: Signer): Json => ({ alg: 'EdDSA', typ: 'JWT', kid: keyId });

export function claimsOf({ keyId }: Signer): Json {
  const iat = Math.floor(nowMs() / 1000);
  return { sub: keyId, iss: 'svc-merchant', iat, exp: iat + 120, jti: randomUUID() };
}

export const eddsa =
  (key: KeyObject) =>
  (input: string): Buffer =>
    sign(null, Buffer.from(input), key);

/** `signatureOf` gets the signing input; header and claims may be text that is not JSON. */
export function jwt(
  header: Json | string,
  claims: Json | string,
  signatureOf: (input: string) => Buffer | string,
): string {
  const part = (value: Json | string): string =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
  const input = `${part(header)}.${part(claims)}`;
  return `${input}.${Buffer.from(signatureOf(input)).toString('base64url')}`;
}

interface OpenApi {
  paths: Record<string, Record<string, { responses: Record<string, DocumentedAnswer> }>>;
  components: { schemas: Record<string, object> };
}
interface DocumentedAnswer {
  content: { 'application/json': { schema: { $ref: string } } };
}

const document = openApiDocument('https://pay.example') as OpenApi;
const ajv = new Ajv2020({ strict: true, allErrors: true, keywords: ['components'] });
addFormats.default(ajv);
ajv.addSchema({ $id: 'openapi', components: document.components });

/** Operations of the merchant API; test/support/checkout.ts validates the answers of payment links. */
const operations = Object.entries(document.paths)
  .filter(([path]) => path.startsWith('/v1/'))
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
      method: method.toUpperCase(),
      answer: responses[200]?.content['application/json'].schema.$ref ?? '',
    })),
  );

/** Documented operations that have answered a client with 200 in this run. */
export const answeredOperations = new Set<string>();
export const documentedOperations: readonly string[] = operations.map(({ name }) => name);

export function schemaValidator(ref: string): ValidateFunction {
  const id = `openapi${ref}`;
  return ajv.getSchema(id) ?? ajv.compile({ $ref: id });
}

function assertAsDocumented(res: Response, method: string, target: string): void {
  const [path = ''] = target.split('?', 1);
  if (!path.startsWith('/v1/')) return;
  assert.match(res.get('Request-Id') ?? '', /^req_[A-Za-z0-9]{24,}$/);
  assert.equal(res.get('Content-Type'), 'application/json; charset=utf-8');
  assert.equal(res.get('Cache-Control'), 'no-store');
  if (method === 'HEAD') return;
  if (res.status !== 200) {
    assertFits('#/components/schemas/Error', res);
    return;
  }
  const operation = operations.find((one) => one.method === method && one.pattern.test(path));
  assert.ok(operation, `${method} ${path} answered 200 but is not documented`);
  assertFits(operation.answer, res);
  answeredOperations.add(operation.name);
}

function assertFits(ref: string, res: Response): void {
  const validate = schemaValidator(ref);
  assert.ok(
    validate(JSON.parse(res.text)),
    `not as documented: ${ajv.errorsText(validate.errors)}\n${res.text}`,
  );
}
