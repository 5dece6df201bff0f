import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './entries.js';
import type { ServiceClient } from './service-client.js';

/** The merchant's requests, each sent until there is an answer; undefined for a refusal, which will not change. */
export interface MerchantAsks {
  client: ServiceClient;
  key: string;
  request: Answer['request'];
}

/** With one idempotency key: it must not be done twice. */
export async function insist(
  asks: MerchantAsks,
  path: string,
  body: object,
): Promise<Record<string, unknown> | undefined> {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() };
  return await untilAnswered(asks, path, { method: 'POST', headers, body: JSON.stringify(body) });
}

export async function lookUp(asks: MerchantAsks, path: string): Promise<Record<string, unknown> | undefined> {
  return await untilAnswered(asks, path, {});
}

async function untilAnswered(
  { client, key, request }: MerchantAsks,
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
