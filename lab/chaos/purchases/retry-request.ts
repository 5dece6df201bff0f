import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../../../shared/process/clock.js';
import type { Answer } from '../journals/entries.js';
import type { ServiceClient } from './service-client.js';

/** A merchant's requests, which are retried until they are answered. */
export interface MerchantRequest {
  client: ServiceClient;
  key: string;
  request: Answer['request'];
}

interface Wanted {
  method?: 'GET' | 'POST' | 'DELETE';
  body?: object;
  /** Throws after this time; by default it retries for as long as the run lasts. */
  withinMs?: number;
}

/** Uses one idempotency key for all retries. Undefined for a refusal, which is final. */
export async function retryRequest(
  { client, key, request }: MerchantRequest,
  path: string,
  { method = 'POST', body, withinMs = Number.POSITIVE_INFINITY }: Wanted = {},
): Promise<Record<string, unknown> | undefined> {
  const headers = {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': randomUUID(),
  };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const endsAt = nowMs() + withinMs;
  for (;;) {
    const reply = await client.send(path, init, { request });
    if (reply.status === 200) return reply.body;
    if (reply.status >= 400 && reply.status < 500 && reply.status !== 429) return undefined;
    if (nowMs() > endsAt) throw new Error(`${method} ${path} answers ${reply.status}`);
    await sleep(reply.retryAfterMs);
  }
}
