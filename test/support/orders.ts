import assert from 'node:assert/strict';
import type { Client } from './api-client.js';

export const SESSIONS = '/v1/checkout/sessions';
export const ENDPOINTS = '/v1/webhook_endpoints';
export const PAYMENTS = '/v1/payments';
export const REFUNDS = '/v1/refunds';

export const coffee = { price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } };
/** The smallest body that creates a session. */
export const minimal = { line_items: [coffee] };

export async function createOpen(
  api: Client,
  body: object = minimal,
): Promise<{ id: string; [field: string]: unknown }> {
  const res = await api.post(SESSIONS, body);
  assert.equal(res.status, 200, res.text);
  return res.body;
}
