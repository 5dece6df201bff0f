import { randomBytes } from 'node:crypto';
import { loadConfig } from '../shared/config.js';
import { type Knex, openDatabase } from '../shared/db/knex.js';
import { migrate } from '../shared/db/migrate.js';
import { newId } from '../shared/ids.js';
import { createLogger } from '../shared/logger.js';
import { CheckoutSession } from '../shared/models/checkout-session.js';
import { Event } from '../shared/models/event.js';
import { openRedis } from '../shared/queues/connection.js';
import { openQueues } from '../shared/queues/enqueue.js';
import { deliveryBell } from '../shared/queues/ring-deliveries.js';
import { createSecretBox } from '../shared/secrets.js';
import { createAccount } from '../shared/services/accounts.js';
import { type EventDeps, recordEvents } from '../shared/services/events.js';
import { startWorkerProcess } from '../test/support/processes.js';
import type { BenchServices } from './services.js';

/** A migrated database with one account, and what writes events into it as a web process would. */
export interface Bench {
  db: Knex;
  accountId: string;
  addEndpoint(url: string, enabledEvents?: string[]): Promise<string>;
  /** Sessions that were paid or have expired, with their events in one transaction; the ids of the events. */
  tell(type: 'checkout.session.completed' | 'checkout.session.expired', count: number): Promise<string[]>;
  startWorker(settings?: Record<string, string>): Promise<void>;
  close(): Promise<void>;
}

export async function openBench({ databaseUrl, redisUrl }: BenchServices): Promise<Bench> {
  const environment = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    FACILITATOR_URL: 'http://127.0.0.1:1',
    BASE_URL: 'https://pay.example',
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  };
  const logger = createLogger('silent', 'bench');
  const config = loadConfig(environment, 'worker');
  await migrate(config, logger);
  const db = openDatabase(config.database);
  const redis = config.redis && openRedis(config.redis, logger);
  const queues = openQueues(config, redis, logger);
  const deps: EventDeps = { baseUrl: config.baseUrl, ringDeliveries: deliveryBell(queues, logger) };
  const account = await createAccount(db, {
    name: 'Bench',
    evmWallet: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
    solanaWallet: null,
    logoUrl: null,
    brandColor: null,
    supportEmail: null,
  });
  return {
    db,
    accountId: account.id,
    async addEndpoint(url, enabledEvents = ['*']) {
      const id = newId('we_');
      const sealedSecret = createSecretBox(config.encryptionKeys).seal(
        `whsec_${randomBytes(32).toString('base64')}`,
      );
      await db('webhookEndpoints').insert({
        id,
        accountId: account.id,
        livemode: false,
        url,
        enabledEvents,
        status: 'enabled',
        sealedSecret,
      });
      return id;
    },
    async tell(type, count) {
      const sessions = await CheckoutSession.query(db)
        .insert(Array.from({ length: count }, () => newSession(account.id)))
        .returning('*');
      await db.transaction((trx) => recordEvents(trx, type, sessions, deps));
      const ids = sessions.map(({ id }) => id);
      return (await Event.query(db).whereIn('checkoutSessionId', ids).select('id')).map(({ id }) => id);
    },
    async startWorker(settings = {}) {
      await startWorkerProcess({ ...environment, LOG_LEVEL: 'info', ...settings });
    },
    async close() {
      await queues.close();
      redis?.disconnect();
      await db.destroy();
    },
  };
}

export function newSession(accountId: string, status = 'expired', expiresAt = new Date()): object {
  return {
    id: newId('cs_test_'),
    accountId,
    livemode: false,
    status,
    amountTotalCents: 450,
    lineItems: JSON.stringify([
      { id: newId('li_'), name: 'Coffee', description: null, images: [], unitAmountCents: 450, quantity: 1 },
    ]),
    metadata: {},
    expiresAt,
  };
}

/** The value below which this share of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round((sorted[Math.ceil(share * sorted.length) - 1] ?? 0) * 10) / 10;
}

export async function until(check: () => boolean | Promise<boolean>, deadlineMs = 120_000): Promise<void> {
  const endsAt = performance.now() + deadlineMs;
  while (!(await check())) {
    if (performance.now() > endsAt) throw new Error('it did not come to its end in time');
    await new Promise((done) => setTimeout(done, 10));
  }
}
