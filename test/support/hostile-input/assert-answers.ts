import assert from 'node:assert/strict';
import { schemaValidator } from '../api-client.js';
import type { Answer } from './client.js';

const TYPES: Record<number, string> = { 401: 'authentication_error', 500: 'api_error' };
const fitsError = schemaValidator('#/components/schemas/Error');

export function assertErrorShape({ status, headers, text }: Answer): { code: string; param?: string } {
  assert.equal(headers['content-type'], 'application/json; charset=utf-8', text);
  assert.match(String(headers['request-id']), /^req_[A-Za-z0-9]+$/);
  const body = JSON.parse(text);
  const fits: boolean = fitsError(body);
  assert.ok(fits, text);
  const { type, code, message, request_id: requestId } = body.error;
  assert.equal(requestId, headers['request-id']);
  const expected = code.startsWith('idempotency_') ? 'idempotency_error' : TYPES[status];
  assert.equal(type, expected ?? 'invalid_request_error');
  assert.match(message, /^\S+\s.*[.!]$/s, `"${message}" is not a sentence`);
  assert.ok(message.length < 1000);
  if (status === 401) assert.match(headers['www-authenticate'] ?? '', /^Bearer realm=/);
  return body.error;
}

export function assertError(answer: Answer, status: number, code: string, param?: string): void {
  assert.equal(answer.status, status, answer.text);
  const error = assertErrorShape(answer);
  assert.deepEqual([error.code, error.param], [code, param], answer.text);
}

export const assertInvalid = (answer: Answer, code: string, param?: string): void =>
  assertError(answer, 400, code, param);

export function assertFine(answer: Answer): { id: string; [field: string]: unknown } {
  assert.equal(answer.status, 200, answer.text);
  assert.match(String(answer.headers['request-id']), /^req_/);
  return JSON.parse(answer.text);
}

export const withoutIds = (text: string): string =>
  text
    .replaceAll(/\b(cs_test|li|we)_[A-Za-z0-9]{28}\b/g, '$1_…')
    .replaceAll(/"(created|expires_at)":\d+/g, '"$1"');
