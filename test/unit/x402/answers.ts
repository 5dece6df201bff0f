import assert from 'node:assert/strict';
import {
  type FacilitatorReply,
  readSettleAnswer,
  readVerifyAnswer,
  type SettleAnswer,
  type VerifyVerdict,
} from '../../../shared/x402/facilitator/facilitator-answers.js';
import { BASE_SEPOLIA } from './offers.js';

export const PAYER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const HASH = `0x${'ab'.repeat(32)}`;
export const HTML = '<html><body><h1>503 Service Temporarily Unavailable</h1></body></html>';

export const SUCCESS = { success: true, transaction: HASH, network: BASE_SEPOLIA, payer: PAYER };
export const FAILURE = {
  success: false,
  errorReason: 'insufficient_funds',
  transaction: '',
  network: BASE_SEPOLIA,
};

/** Errors as undici and node throw them. An error without a code wraps one with a code. */
export const NOTHING_SENT: Record<string, unknown> = {
  'a refused connection': failed('ECONNREFUSED', 'connect'),
  'a refused connection, wrapped': wrapped(failed('ECONNREFUSED', 'connect')),
  'refused connections on two addresses': new AggregateError([
    failed('ECONNREFUSED', 'connect'),
    failed('ECONNREFUSED', 'connect'),
  ]),
  'no address that can be reached, wrapped': wrapped(
    new AggregateError([failed('ECONNREFUSED', 'connect'), failed('ETIMEDOUT', 'connect')]),
  ),
  'a name that does not resolve': failed('ENOTFOUND', 'getaddrinfo'),
  'a name server that does not answer': failed('EAI_AGAIN', 'getaddrinfo'),
  'no connection in time': failed('UND_ERR_CONNECT_TIMEOUT'),
  'a network without a route': failed('ENETUNREACH', 'connect'),
  'an unanswered handshake': failed('ETIMEDOUT', 'connect'),
};

export const PERHAPS_SENT: Record<string, unknown> = {
  'a reset connection': failed('ECONNRESET', 'read'),
  'a reset connection, wrapped': wrapped(failed('ECONNRESET', 'read')),
  'a socket closed by the other side': failed('UND_ERR_SOCKET'),
  'no headers in time': failed('UND_ERR_HEADERS_TIMEOUT'),
  'our own deadline': new DOMException('The operation was aborted due to timeout', 'TimeoutError'),
  'a connection that died while it was read': failed('ETIMEDOUT', 'read'),
  'a refusal while it was written': failed('ECONNREFUSED', 'write'),
  'a failed handshake of TLS': failed('ERR_TLS_CERT_ALTNAME_INVALID'),
  'one refused and one reset connection': new AggregateError([
    failed('ECONNREFUSED', 'connect'),
    failed('ECONNRESET', 'read'),
  ]),
  'no reason at all': new AggregateError([]),
  'an error without a code': new TypeError('fetch failed'),
  'an error around an error without a code': wrapped(new Error('x')),
  'something thrown that is no error': 'ECONNREFUSED',
};

export const NO_BOOLEAN: Record<string, string> = {
  'no body': '',
  HTML,
  'half of a JSON object': '{"success":true,"isValid":true,"transac',
  null: 'null',
  'an array': '[{"success":true,"isValid":true}]',
  'an empty object': '{}',
  'a boolean in words': '{"success":"true","isValid":"true"}',
  'a boolean that is null': '{"success":null,"isValid":null}',
  'a boolean in the prototype': '{"__proto__":{"success":true,"isValid":true}}',
};

export function failed(code: string, syscall?: string): Error {
  return Object.assign(new Error(code), syscall === undefined ? { code } : { code, syscall });
}

export function wrapped(cause: unknown): Error {
  return new TypeError('fetch failed', { cause });
}

function replyOf(body: unknown, status = 200): FacilitatorReply {
  return { status, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

export function verify(body: unknown, status = 200): VerifyVerdict {
  return readVerifyAnswer(replyOf(body, status));
}

export function settle(body: unknown, status = 200, network = BASE_SEPOLIA): SettleAnswer {
  return readSettleAnswer(replyOf(body, status), network);
}

export function codeOf(verdict: VerifyVerdict | SettleAnswer): string {
  assert.ok(verdict.kind === 'refused' || verdict.kind === 'rejected', verdict.kind);
  return verdict.code;
}
