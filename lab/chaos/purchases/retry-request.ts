import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../journals/entries.js';
import type { ServiceClient } from './service-client.js';

/** Merchant requests that are retried until they are answered. Undefined for a refusal, which is final. */
export interface MerchantRequest {
  client: ServiceClient;
  key: string;
  request: Answer['request'];
}

/** Uses one idempotency key for all retries. */
export async function retryRequest(
  merchant: MerchantRequest,
  path: string,
  body: object,
): Promise<Record<string, unknown> | undefined> {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() };
  return await untilAnswered(merchant, path, { method: 'POST', headers, body: JSON.stringify(body) });
}

export async function lookUp(
  merchant: MerchantRequest,
  path: string,
): Promise<Record<string, unknown> | undefined> {
  return await untilAnswered(merchant, path, {});
}

async function untilAnswered(
  { client, key, request }: MerchantRequest,
  path: string,
  init: RequestInit,
): Promise<Record<string, unknown> | undefined> {
  const headers = { ...init.headers, Authorization: `Bearer ${key}` };
  for (;;) {
    const { status, body, retryAfterMs } = await client.send(path, { ...init, headers }, { request });
    if (status === 200) return body;
    if (status >= 400 && status < 500 && status !== 429) return undefined;
    await sleep(retryAfterMs);
  }
}
