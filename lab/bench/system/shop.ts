import { randomBytes } from 'node:crypto';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { recordSessionEvents } from '../../../shared/checkout-sessions/record-events.js';
import type { Knex } from '../../../shared/db/knex.js';
import { createLogger } from '../../../shared/process/logger.js';
import { openRedis } from '../../../shared/queues/connection.js';
import { deliveryNotifier } from '../../../shared/queues/delivery-notifier.js';
import { openQueues } from '../../../shared/queues/enqueue.js';
import { createSecretBox } from '../../../shared/secrets/secrets.js';
import { installationNamer } from '../../../shared/upkeep/installation.js';
import { newId } from '../../../shared/values/ids.js';
import type { EventDeps } from '../../../shared/webhooks/events.js';
import { Event } from '../../../shared/webhooks/model.js';
import { buildMerchant } from '../../world/shop/factories.js';
import type { System } from './system.js';

/** A merchant's account, with a writer of events like a web process's. */
export interface Shop {
  accountId: string;
  addEndpoint(url: string, enabledEvents?: string[]): Promise<string>;
  /**
   * Inserts sessions that were paid or have expired, with their events, in one transaction; returns the events' ids.
   */
  recordEvents(
    type: 'checkout.session.completed' | 'checkout.session.expired',
    count: number,
  ): Promise<string[]>;
  close(): Promise<void>;
}

/** Rows per statement. */
const BATCH = 500;

export async function openShop({ db, config }: System): Promise<Shop> {
  const logger = createLogger('silent', 'bench');
  const redis = config.redis && openRedis(config.redis, logger);
  const queues = openQueues(config, { redis, installation: installationNamer(db) }, logger);
  const deps: EventDeps = { baseUrl: config.baseUrl, notifyDeliveries: deliveryNotifier(queues, logger) };
  const secretBox = createSecretBox(config.encryptionKeys);
  const { accountId } = await buildMerchant(db);
  return {
    accountId,
    async addEndpoint(url, enabledEvents = ['*']) {
      const id = newId('we_');
      const sealedSecret = secretBox.seal(`whsec_${randomBytes(32).toString('base64')}`);
      const status = 'enabled';
      await db('webhookEndpoints').insert({
        id,
        accountId,
        livemode: false,
        url,
        enabledEvents,
        status,
        sealedSecret,
      });
      return id;
    },
    async recordEvents(type, count) {
      const ids: string[] = [];
      await db.transaction(async (trx) => {
        for (let recorded = 0; recorded < count; recorded += BATCH) {
          const rows = Array.from({ length: Math.min(BATCH, count - recorded) }, () => newSession(accountId));
          const sessions = await CheckoutSession.query(trx).insert(rows).returning('*');
          await recordSessionEvents(trx, type, sessions, deps);
          ids.push(...(await eventsOf(trx, sessions)));
        }
      });
      return ids;
    },
    async close() {
      await queues.close();
      redis?.disconnect();
    },
  };
}

async function eventsOf(trx: Knex.Transaction, sessions: readonly CheckoutSession[]): Promise<string[]> {
  const sessionIds = sessions.map(({ id }) => id);
  const events = await Event.query(trx).whereIn('payableId', sessionIds).select('id');
  return events.map(({ id }) => id);
}

function newSession(accountId: string): object {
  return {
    id: newId('cs_test_'),
    accountId,
    livemode: false,
    status: 'expired',
    amountTotalCents: 450,
    lineItems: JSON.stringify([
      { id: newId('li_'), name: 'Coffee', description: null, images: [], unitAmountCents: 450, quantity: 1 },
    ]),
    metadata: {},
    expiresAt: new Date(),
  };
}

export async function until(check: () => boolean | Promise<boolean>, deadlineMs = 120_000): Promise<void> {
  const endsAt = performance.now() + deadlineMs;
  while (!(await check())) {
    if (performance.now() > endsAt) throw new Error('the condition was not met in time');
    await new Promise((done) => setTimeout(done, 10));
  }
}
