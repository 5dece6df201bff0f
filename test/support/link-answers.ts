import assert from 'node:assert/strict';
import { declarePaymentIdentifierExtension, PAYMENT_IDENTIFIER } from '@x402/extensions/payment-identifier';
import type { Response } from 'supertest';
import type { SettlementResponse } from '../../shared/x402/wire.js';

export type LinkMethod = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'head';

/** An answer in two words: `402 insufficient_funds`, `409 processing`, `200 complete`, `200 page`, `402`. */
export function answerOf({ status, type, body }: Response): string {
  if (type === 'text/html') return `${status} page`;
  const word = body.error?.code ?? body.code ?? body.status;
  return word === undefined ? `${status}` : `${status} ${word}`;
}

/** The decoded PAYMENT-RESPONSE header. */
export function receiptOf(res: Response): SettlementResponse | undefined {
  const header = res.get('PAYMENT-RESPONSE');
  return header === undefined ? undefined : (decodeHeader(header) as SettlementResponse);
}

/** Decodes as the stock client does: standard base64 with padding. */
export function decodeHeader(text: string): unknown {
  assert.match(text, /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/);
  return JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
}

/** The extension that every 402 declares, as x402's own package builds it. */
export function declarePaymentIdentifier(): object {
  return { [PAYMENT_IDENTIFIER]: declarePaymentIdentifierExtension() };
}

const EXPOSED = ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE', 'Retry-After', 'Link'];
const STATUS_BY_CODE: Record<string, number> = {
  invalid_payment_payload: 400,
  resource_missing: 404,
  method_not_allowed: 405,
  payment_identifier_reused: 409,
  session_already_paid: 409,
  signature_already_used: 409,
  session_expired: 410,
  rate_limit: 429,
  internal_error: 500,
  payment_service_unavailable: 503,
  payments_unavailable: 503,
};

export const listOf = (res: Response, header: string): string[] =>
  (res.get(header) ?? '').toLowerCase().split(/\s*,\s*/);

/** Asserts that a page of another origin may read the answer. */
export function assertReadable(res: Response): void {
  assert.equal(res.get('Access-Control-Allow-Origin'), '*');
  const exposed = listOf(res, 'Access-Control-Expose-Headers');
  assert.deepEqual(
    EXPOSED.filter((name) => !exposed.includes(name.toLowerCase())),
    [],
  );
  // CORS allows no credentials with a wildcard origin.
  assert.equal(res.get('Access-Control-Allow-Credentials'), undefined);
  assert.equal(res.get('Cross-Origin-Resource-Policy'), 'cross-origin');
}

/** Asserts what holds for every answer of a payment link. */
export function assertLinkAnswer(res: Response, method: LinkMethod, link: string): void {
  assertReadable(res);
  assert.equal(res.get('Cache-Control'), 'no-store');
  assert.match(res.get('Vary') ?? '', /(^|, )Accept($|,)/);
  const isWaiting = [202, 409, 429, 503].includes(res.status);
  if (isWaiting) assert.match(res.get('Retry-After') ?? '', /^[1-9][0-9]*$/);
  else assert.equal(res.get('Retry-After'), undefined);
  assert.equal(res.get('PAYMENT-REQUIRED') !== undefined, res.status === 402);
  if (method === 'head') assert.equal(res.text ?? '', '');
  else if (res.type !== 'text/html') assertLinkBody(res, link);
}

function assertLinkBody(res: Response, link: string): void {
  const { status, body } = res;
  assert.equal(res.get('Content-Type'), 'application/json; charset=utf-8');
  const tellsOfPayment = status === 200 || body.error?.code === 'session_already_paid';
  const mayHaveReceipt = tellsOfPayment || (status === 402 && body.code !== undefined);
  if (!mayHaveReceipt) assert.equal(res.get('PAYMENT-RESPONSE'), undefined);
  if (status === 402) {
    assert.deepEqual(decodeHeader(res.get('PAYMENT-REQUIRED') ?? ''), body);
    const { x402Version, error, code, resource, accepts, extensions, ...others } = body;
    assert.deepEqual([x402Version, resource.url, others], [2, link.replace(/\?.*/, ''), {}]);
    const { 'offer-receipt': offers, ...declared } = extensions;
    assert.deepEqual(declared, declarePaymentIdentifier());
    if (offers !== undefined) assert.notEqual(offers.info.offers.length, 0);
    assert.notEqual(accepts.length, 0);
    if (code === undefined) assert.equal(error, 'Payment required');
    else assert.match(error, /^\S+ \S+ .*\.$/, `"${error}" is not a sentence`);
  } else if (body.error !== undefined) {
    assert.deepEqual(Object.keys(body), ['error']);
    assert.deepEqual(Object.keys(body.error), ['code', 'message']);
    assert.match(body.error.message, /^\S+ \S+ .*\.$/, `"${body.error.message}" is not a sentence`);
    assert.equal(STATUS_BY_CODE[body.error.code], status, body.error.code);
  } else if (status === 200) {
    const { receipt, ...others } = body;
    assert.deepEqual(Object.keys(others), ['status', link.includes('/c/re_') ? 'refund' : 'session']);
    const settlement = receiptOf(res);
    assert.equal(settlement?.success, true);
    assert.deepEqual(receipt, settlement?.extensions?.['offer-receipt'].info.receipt);
  } else {
    const { message, ...processing } = body;
    assert.deepEqual(processing, { status: 'processing', url: link.replace(/\?.*/, '') });
    assert.match(message, /GET.*without a payment header.*until.*200/);
    assert.match(`${status}`, /^(202|409)$/);
  }
}
