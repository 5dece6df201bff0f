import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import { buildMerchant, buildSessions, type Merchant } from '../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { now } from '../../shared/process/clock.js';
import { createLogger } from '../../shared/process/logger.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { Event } from '../../shared/webhooks/model.js';
import { startWorker } from '../../workers/process/start-worker.js';
import { createMigratedDatabase } from './suite.js';

/** A database with overdue sessions, and workers that expire them. */
export interface Expiring extends Closable {
  databaseUrl: string;
  db: Knex;
  shop: Merchant;
  workers: Set<Closable>;
  startWorkerWith(environment: Record<string, string>): Promise<Closable>;
  buildOverdue(count: number): Promise<string[]>;
  /** Waits until each session is expired, and asserts that each has exactly one event. */
  untilExpired(ids: readonly string[]): Promise<void>;
  closeWorkers(): Promise<void>;
}

export const overdueBy = (ms: number): { expiresAt: Date } => ({ expiresAt: new Date(now().getTime() - ms) });

export async function openExpiring(name: string): Promise<Expiring> {
  const databaseUrl = await createMigratedDatabase(name);
  const db = openDatabase(loadConfig({ DATABASE_URL: databaseUrl }, 'migrate').database);
  const shop = await buildMerchant(db);
  const workers = new Set<Closable>();
  const fixed = {
    DATABASE_URL: databaseUrl,
    FACILITATOR_URL: 'http://127.0.0.1:1',
    BASE_URL: 'https://pay.example',
  };
  return {
    databaseUrl,
    db,
    shop,
    workers,
    async startWorkerWith(environment) {
      const config = loadConfig({ ...fixed, ...environment }, 'worker');
      const worker = await startWorker(config, createLogger('silent', 'test'));
      workers.add(worker);
      return worker;
    },
    async buildOverdue(count) {
      const sessions = await buildSessions(db, shop.accountId, count, overdueBy(1));
      return sessions.map(({ id }) => id);
    },
    async untilExpired(ids) {
      await eventually(async () => {
        const open = await CheckoutSession.query(db).whereIn('id', ids).whereNot('status', 'expired');
        assert.equal(open.length, 0, `${open.length} of ${ids.length} sessions are not expired yet`);
      });
      const events = await Event.query(db).whereIn('payableId', ids);
      assert.deepEqual(events.map(({ payableId }) => payableId).sort(), [...ids].sort());
      for (const { type } of events) assert.equal(type, 'checkout.session.expired');
    },
    async closeWorkers() {
      await Promise.all([...workers].map((worker) => worker.close()));
      workers.clear();
    },
    close: () => db.destroy(),
  };
}
