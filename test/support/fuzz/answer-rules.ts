import assert from 'node:assert/strict';
import { schemaValidator } from '../api-client.js';
import type { Hostile } from './hostile-requests.js';
import type { RawAnswer } from './raw-client.js';

const fitsError = schemaValidator('#/components/schemas/Error');
const STATUSES = [0, 200, 202, 204, 400, 401, 402, 404, 405, 406, 409, 410, 415, 429, 431, 503];
/** Statuses of /v1. A busy or broken service would answer with others. */
const OF_MERCHANTS = [0, 200, 400, 401, 404, 405, 431];
/** Each must occur, or the generated requests miss their purpose. */
const MUST_BE_SEEN = [200, 202, 400, 401, 402, 404, 405, 409, 410];

/** Invariants of every response, and counts of the objects that responses report as created. */
export class AnswerRules {
  readonly made: Record<string, number> = {
    checkout_sessions: 0,
    payments: 0,
    events: 0,
    webhook_deliveries: 0,
    webhook_endpoints: 0,
    api_keys: 0,
  };
  readonly #seen = new Map<number, number>();
  readonly #secrets: readonly string[];

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  check(request: Hostile, answer: RawAnswer): void {
    const { status, headers, text } = answer;
    this.#seen.set(status, (this.#seen.get(status) ?? 0) + 1);
    const possible = request.path.startsWith('/v1/') ? OF_MERCHANTS : STATUSES;
    assert.ok(possible.includes(status), `status ${status}`);
    assert.match(headers.get('request-id') ?? '', /^req_[A-Za-z0-9]{28}$/);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.ok(headers.has('content-security-policy'));
    assert.ok(!headers.has('set-cookie') && !headers.has('x-powered-by'));
    for (const [name, value] of headers) {
      if (!name.startsWith('payment-')) assert.doesNotMatch(value, /never-in-a-log|etc\/passwd|<script/);
    }
    const isShown = status === 200 && !isLink(request.path);
    // Merchants may see their metadata, and the secret of a new endpoint.
    for (const secret of this.#secrets) if (!isShown) assert.ok(!text.includes(secret), `shows ${secret}`);
    if (request.method === 'HEAD' || status === 204) return;
    if (isUnreadable(answer)) checkError(answer);
    else if (isLink(request.path)) checkLink(answer);
    else if (isMcp(request.path)) checkMessage(answer);
    else if (status !== 200 && !/^\/(metrics|admin)/.test(request.path)) checkError(answer);
  }

  /** Counts created objects. Returns the id of the object, which later requests may use. */
  madeBy({ method, path, headers: headersSent, body }: Hostile, answer: RawAnswer): string | undefined {
    const { status, headers, text } = answer;
    // With SETTLE_WAIT_MS 0 an accepted payment, and nothing else, is answered 202.
    const pays = headersSent.some(([name]) => /^(payment-signature|x-payment)$/i.test(name));
    if (status === 202 && pays && method !== 'HEAD') this.#count('payments');
    this.#count(headers.has('x-claimed') ? 'payments' : undefined);
    if (isMcp(path)) return this.#madeByTool(body, answer);
    if (method !== 'POST' || status !== 200 || !path.startsWith('/v1/') || headers.has('idempotent-replayed'))
      return undefined;
    const { id, object, status: state } = JSON.parse(text);
    if (object === 'api_key') this.#count('api_keys');
    const isNew = text.includes('"secret"') && !path.includes('/roll_secret');
    if (object === 'webhook_endpoint' && isNew) this.#count('webhook_endpoints');
    if (object === 'refund' && state === 'canceled') this.#count('events');
    if (object === 'checkout.session') this.#count(state === 'expired' ? 'events' : 'checkout_sessions');
    return id;
  }

  #madeByTool(sent: Buffer | undefined, { status, headers, text }: RawAnswer): string | undefined {
    const { isError = true, structuredContent: made } = resultOf(status, text);
    if (isError || headers.has('idempotent-replayed')) return undefined;
    const { name } = JSON.parse(String(sent)).params;
    if (name === 'create_webhook_endpoint') this.#count('webhook_endpoints');
    if (name === 'create_checkout_session') this.#count('checkout_sessions');
    if (name === 'expire_checkout_session' || name === 'cancel_refund') this.#count('events');
    return made?.id;
  }

  requireAllSeen(): void {
    const missing = MUST_BE_SEEN.filter((status) => (this.#seen.get(status) ?? 0) < 5);
    assert.deepEqual(missing, [], this.summary());
  }

  summary(): string {
    const counts = [...this.#seen].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
    return counts.join(', ');
  }

  #count(table: string | undefined): void {
    if (table !== undefined) this.made[table] = (this.made[table] ?? 0) + 1;
  }
}

/** Whether the request was refused before its path was read, in one form for all paths. */
function isUnreadable({ text }: RawAnswer): boolean {
  return /"code":"(headers_too_large|malformed_request|request_timeout)"/.test(text);
}

function isLink(path: string): boolean {
  return /^\/c(?=[/?]|$)/.test(path);
}

function isMcp(path: string): boolean {
  return /^\/mcp(?=[/?]|$)/.test(path);
}

interface ToolResult {
  isError?: boolean;
  structuredContent?: { id?: string; error?: { request_id: string } };
}

/** Empty when the response is not that of a tool. */
function resultOf(status: number, text: string): ToolResult {
  const result = status === 200 ? JSON.parse(text).result : undefined;
  return result?.structuredContent === undefined ? {} : { isError: false, ...result };
}

/** Checks that the answer is JSON-RPC, or the Error object for requests that are not messages. */
function checkMessage(answer: RawAnswer): void {
  const { status, headers, text } = answer;
  if (status === 202) {
    assert.equal(text, '');
    return;
  }
  const body = JSON.parse(text);
  if (body.jsonrpc === undefined) {
    checkError(answer);
    return;
  }
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(body.jsonrpc, '2.0');
  assert.equal((body.error === undefined) !== (body.result === undefined), true);
  if (body.error !== undefined) assert.match(body.error.message, /\w/);
  assert.doesNotMatch(body.error?.message ?? '', /\bat \S+:\d+|node_modules/);
  const { isError, structuredContent: { error } = {} } = resultOf(status, text);
  assert.equal(error !== undefined, isError ?? false);
  if (error === undefined) return;
  assert.equal(fitsError({ error }), true, 'not an Error object');
  assert.equal(error.request_id, headers.get('request-id'));
}

function checkError({ status, headers, text }: RawAnswer): void {
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  const body = JSON.parse(text);
  assert.equal(fitsError(body), true, 'not an Error object');
  assert.equal(body.error.request_id, headers.get('request-id'));
  assert.match(body.error.message, /\s\S.*[.!]$/s, 'the message is not a sentence');
  assert.doesNotMatch(
    body.error.message,
    /\bat \S+:\d+|\b(select|insert|update) .* (from|into|set)\b|undefined/i,
  );
  if (status === 401) assert.match(headers.get('www-authenticate') ?? '', /^Bearer realm=/);
  if (status === 405) assert.match(headers.get('allow') ?? '', /^[A-Z]+(, [A-Z]+)*$/);
  if (status === 429) assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/);
}

function checkLink({ status, headers, text }: RawAnswer): void {
  assert.equal(headers.get('access-control-allow-origin'), '*');
  if (headers.get('content-type')?.startsWith('text/html')) {
    assert.doesNotMatch(text, /<script>alert|onerror=/);
    return;
  }
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  const body = JSON.parse(text);
  if ([202, 409, 429, 503].includes(status)) assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  if (status === 402) {
    assert.equal(body.x402Version, 2);
    assert.ok(body.accepts.length > 0);
    assert.equal(headers.get('payment-required'), Buffer.from(text).toString('base64'));
  } else if (status === 200) assert.equal(body.status, 'complete');
  else if (body.status !== 'processing') {
    assert.deepEqual(Object.keys(body), ['error']);
    assert.deepEqual(Object.keys(body.error), ['code', 'message']);
    assert.match(body.error.message, /^\S+\s.*[.!]$/s);
  }
}
