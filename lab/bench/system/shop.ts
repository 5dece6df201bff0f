import { randomBytes } from 'node:crypto';
import type { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { recordSessionEvents } from '../../../shared/checkout-sessions/record-events.js';
import type { Knex } from '../../../shared/db/knex.js';
import { createLogger } from '../../../shared/process/logger.js';
import { openRedis } from '../../../shared/queues/connection.js';
import { deliveryNotifier } from '../../../shared/queues/delivery-notifier.js';
import { openQueues } from '../../../shared/queues/enqueue.js';
import { createSecretBox } from '../../../shared/secrets/secrets.js';
import { installationNamer } from '../../../shared/upkeep/installation.js';
import type { EventDeps } from '../../../shared/webhooks/events.js';
import { Event, type WebhookEndpoint } from '../../../shared/webhooks/model.js';
import { buildEndpoints, buildMerchant, buildSessions } from '../../world/shop/factories.js';
import type { System } from './system.js';

/** A merchant's account, with a writer of events like a web process's. */
export interface Shop {
  accountId: string;
  addEndpoint(url: string, enabledEvents?: WebhookEndpoint['enabledEvents']): Promise<string>;
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
const ENDED = { status: 'expired', expiresAt: new Date() } as const;

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
      const sealedSecret = secretBox.seal(`whsec_${randomBytes(32).toString('base64')}`);
      const [id = ''] = await buildEndpoints(db, accountId, 1, { url, enabledEvents, sealedSecret });
      return id;
    },
    async recordEvents(type, count) {
      const ids: string[] = [];
      await db.transaction(async (trx) => {
        for (let recorded = 0; recorded < count; recorded += BATCH) {
          const length = Math.min(BATCH, count - recorded);
          const sessions = await buildSessions(trx, accountId, length, ENDED);
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

export async function until(check: () => boolean | Promise<boolean>, deadlineMs = 120_000): Promise<void> {
  const endsAt = performance.now() + deadlineMs;
  while (!(await check())) {
    if (performance.now() > endsAt) throw new Error('the condition was not met in time');
    await new Promise((done) => setTimeout(done, 10));
  }
}
