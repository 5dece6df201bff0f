import assert from 'node:assert/strict';
import type { Response, Test } from 'supertest';
import { IdempotencyRecord } from '../../shared/accounts/model.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { assertRefusal, untilTaken } from './api-client.js';
import type { TestApp } from './app.js';
import { minimal, SESSIONS } from './orders.js';
import { buildShop, type Shop } from './shop.js';

/** A merchant that sends an Idempotency-Key with each session that it creates, in test mode. */
export interface KeyedShop extends Shop {
  create(body?: object, key?: string): Test;
  sessions(): Promise<CheckoutSession[]>;
  records(): Promise<IdempotencyRecord[]>;
}

export const hooks = { url: 'https://shop.example/hooks' };
/** Avoids a DNS query for the host of `hooks`. */
export const PRIVATE = { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' };

export async function buildKeyedShop(app: TestApp): Promise<KeyedShop> {
  const shop = await buildShop(app);
  const { accountId } = shop;
  return {
    ...shop,
    create: (body = minimal, key) => keyed(shop.test.post(SESSIONS, body), key),
    sessions: async () => await CheckoutSession.query(app.db).where({ accountId }).orderBy('id'),
    records: async () => await IdempotencyRecord.query(app.db).where({ accountId }),
  };
}

export const keyed = (test: Test, key = 'order-7'): Test => test.set('Idempotency-Key', key);

export function atOnce(count: number, send: (index: number) => Test): Promise<Response[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => untilTaken(() => send(index))));
}

export function assertReplay(again: Response, first: Response): void {
  assert.equal(first.status, 200, first.text);
  assert.equal(first.get('Idempotent-Replayed'), undefined);
  assert.equal(again.status, 200, again.text);
  assert.equal(again.text, first.text);
  assert.equal(again.get('Idempotent-Replayed'), 'true');
  assert.notEqual(again.get('Request-Id'), first.get('Request-Id'));
}

export function assertReused(res: Response): void {
  assertRefusal(res, 400, 'idempotency_key_reused');
  assert.equal(res.get('Idempotent-Replayed'), undefined);
}
