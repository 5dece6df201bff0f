import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually } from '../../lab/world/processes/eventually.js';
import { type Receiver, startReceiver } from '../../lab/world/receiver/receiver.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { recordSessionEvents } from '../../shared/checkout-sessions/record-events.js';
import { loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { nowMs } from '../../shared/process/clock.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { newId } from '../../shared/values/ids.js';
import { WebhookDelivery, WebhookEndpoint } from '../../shared/webhooks/model.js';
import type { SlotAllowance } from '../../shared/webhooks/slots.js';
import { type Client, client } from './api-client.js';
import { type Checkout, openCheckout } from './checkout.js';
import { emptyTables } from './empty-tables.js';
import { EVENT_DEPS } from './money-flow.js';
import { createMigratedDatabase, createPooledDatabase, testServices } from './suite.js';

/** A checkout with its own database, whose merchant has endpoints, each with a receiver. */
export interface WebhookFlow extends Checkout {
  databaseUrl: string;
  db: Knex;
  /** The settings of a worker process of its own. */
  settings: Record<string, string>;
  api: Client;
  addEndpoint(settings?: object, by?: Client): Promise<Hook>;
  /** Creates a session that the merchant expires, with its event. */
  expireSession(): Promise<string>;
  /** Expires sessions in one transaction without a notification: the sweep has to find the deliveries. */
  expireWithoutNotifying(count: number): Promise<void>;
  deliveries(endpointId: string): Promise<WebhookDelivery[]>;
  /** The only delivery of this endpoint, after this many tries. */
  afterTries(endpointId: string, tries: number): Promise<WebhookDelivery>;
  /** Enqueues the endpoint's due deliveries, which the sweep would find within about a second. */
  enqueueDeliveries(endpointId: string): Promise<void>;
  untilSucceeded(endpointId: string, count: number, deadlineMs?: number): Promise<WebhookDelivery[]>;
  endpoint(id: string): Promise<WebhookEndpoint>;
  /** Closes the receivers and the workers, and deletes endpoints, events and deliveries. */
  startOver(): Promise<void>;
}

export interface Hook {
  id: string;
  secret: string;
  receiver: Receiver;
}

/** The room of a process with nothing in flight. */
export const ALLOWANCE: SlotAllowance = { slots: 20, ofHost: () => 20, fullHosts: [], bytesPerSlot: 40_000 };

interface WebhookFlowOptions {
  environment?: Record<string, string>;
  worker?: boolean;
}

export async function openWebhookFlow(name: string, options: WebhookFlowOptions = {}): Promise<WebhookFlow> {
  const create = options.environment?.REDIS_URL === '' ? createMigratedDatabase : createPooledDatabase;
  const databaseUrl = await create(name);
  const db = openDatabase(loadConfig({ DATABASE_URL: databaseUrl }, 'migrate').database);
  const checkout = await openCheckout({
    worker: options.worker ?? true,
    environment: {
      DATABASE_URL: databaseUrl,
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
      ...options.environment,
    },
  });
  const receivers: Receiver[] = [];
  const workers: Closable[] = [];
  const api = client(checkout.app, checkout.merchant.testKey);
  const flow: WebhookFlow = {
    ...checkout,
    databaseUrl,
    db,
    settings: {
      DATABASE_URL: databaseUrl,
      REDIS_URL: testServices().redisUrl,
      FACILITATOR_URL: checkout.facilitator.url,
      BASE_URL: 'https://pay.example',
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    },
    api,
    async addEndpoint(settings = {}, by = api) {
      const receiver = await startReceiver();
      receivers.push(receiver);
      const { body } = await by.post('/v1/webhook_endpoints', { url: receiver.url, ...settings }).expect(200);
      return { id: body.id, secret: body.secret, receiver };
    },
    async expireSession() {
      // The session ends later than the advanced clock, else the worker's sweep may expire it first.
      const { id } = await checkout.buildSession({ expiresAt: new Date(nowMs() + 3_600_000) });
      await api.post(`/v1/checkout/sessions/${id}/expire`).expect(200);
      return id;
    },
    async expireWithoutNotifying(count) {
      const { accountId } = checkout.merchant;
      await db.transaction(async (trx) => {
        const sessions = await CheckoutSession.query(trx)
          .insert(Array.from({ length: count }, () => newExpiredSession(accountId)))
          .returning('*');
        await recordSessionEvents(trx, 'checkout.session.expired', sessions, EVENT_DEPS);
      });
    },
    deliveries: async (endpointId) => await WebhookDelivery.query(db).where({ endpointId }).orderBy('id'),
    afterTries: (endpointId, tries) =>
      eventually(async () => {
        const [delivery, ...others] = await flow.deliveries(endpointId);
        assert.ok(delivery !== undefined && others.length === 0);
        assert.deepEqual([delivery.tries, delivery.leasedUntil], [tries, null]);
        return delivery;
      }),
    async enqueueDeliveries(endpointId) {
      const { accountId } = await flow.endpoint(endpointId);
      const id = `test-${randomUUID()}`;
      await checkout.app.queues.enqueue({ name: 'deliver-webhook', payload: { accountId }, id });
    },
    untilSucceeded: (endpointId, count, deadlineMs) =>
      eventually(async () => {
        const rows = await WebhookDelivery.query(db).where({ endpointId, status: 'succeeded' });
        assert.equal(rows.length, count);
        return rows;
      }, deadlineMs),
    endpoint: async (id) => await WebhookEndpoint.query(db).findById(id).throwIfNotFound(),
    async startWorker(settings) {
      const worker = await checkout.startWorker(settings);
      workers.push(worker);
      return worker;
    },
    async startOver() {
      // Receivers that hang are closed first, so that the workers do not wait for them.
      await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
      await Promise.all(workers.splice(0).map((worker) => worker.close()));
      await emptyTables(db, 'webhook_endpoints', 'events');
    },
    async close() {
      await Promise.all(receivers.map((receiver) => receiver.close()));
      await checkout.close();
      await db.destroy();
    },
  };
  return flow;
}

function newExpiredSession(accountId: string): Partial<CheckoutSession> {
  return {
    id: newId('cs_test_'),
    accountId,
    livemode: false,
    status: 'expired',
    amountTotalCents: 450,
    lineItems: [],
    metadata: {},
    expiresAt: new Date(),
  };
}
