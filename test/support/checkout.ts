import request, { type Response } from 'supertest';
import { loadConfig } from '../../shared/config.js';
import { createLogger } from '../../shared/logger.js';
import type { CheckoutSession } from '../../shared/models/checkout-session.js';
import { CheckoutSession as Session } from '../../shared/models/checkout-session.js';
import { Event } from '../../shared/models/event.js';
import { Payment } from '../../shared/models/payment.js';
import type { Closable } from '../../shared/shutdown.js';
import type { PaymentRequired } from '../../shared/x402/wire.js';
import { startWorker } from '../../workers/main.js';
import { openTestApp, type TestApp } from './app.js';
import { type FakeFacilitator, startFacilitator } from './facilitator.js';
import { buildMerchant, buildSession, type Merchant } from './factories.js';
import { testServices } from './suite.js';

/** A web app, a worker, a facilitator and a merchant: everything that a payment passes. */
export interface Checkout {
  app: TestApp;
  facilitator: FakeFacilitator;
  merchant: Merchant;
  buildSession(overrides?: Partial<CheckoutSession>): Promise<CheckoutSession>;
  /** What the link asks for. */
  quote(id: string): Promise<PaymentRequired>;
  visit(id: string, headers?: Record<string, string>): Promise<Response>;
  session(id: string): Promise<CheckoutSession>;
  payments(sessionId: string): Promise<Payment[]>;
  events(sessionId: string): Promise<string[]>;
  startWorker(): Promise<Closable>;
  close(): Promise<void>;
}

export interface CheckoutOptions {
  environment?: Record<string, string>;
  facilitator?: FakeFacilitator;
  worker?: boolean;
}

export async function openCheckout({
  environment = {},
  worker = true,
  ...rest
}: CheckoutOptions = {}): Promise<Checkout> {
  const facilitator = rest.facilitator ?? (await startFacilitator());
  const settings = {
    FACILITATOR_URL: facilitator.url,
    RATE_LIMIT_LINK_PER_MINUTE: '1000000',
    ...environment,
  };
  const app = await openTestApp(settings);
  const merchant = await buildMerchant(app.db);
  const workers: Closable[] = [];
  const start = async (): Promise<Closable> => {
    const { databaseUrl, redisUrl } = testServices();
    const config = loadConfig(
      { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, BASE_URL: 'https://pay.example', ...settings },
      'worker',
    );
    const started = await startWorker(config, createLogger('silent', 'test'));
    workers.push(started);
    return started;
  };
  if (worker) await start();
  return {
    app,
    facilitator,
    merchant,
    buildSession: (overrides) => buildSession(app.db, merchant.accountId, overrides),
    async quote(id) {
      const { body } = await request(app.server).get(`/c/${id}`);
      return body;
    },
    visit: (id, headers = {}) => request(app.server).get(`/c/${id}`).set(headers),
    session: async (id) => await Session.query(app.db).findById(id).throwIfNotFound(),
    payments: async (sessionId) =>
      await Payment.query(app.db).where({ checkoutSessionId: sessionId }).orderBy('id'),
    async events(sessionId) {
      const rows = await Event.query(app.db).where({ checkoutSessionId: sessionId }).orderBy('id');
      return rows.map(({ type }) => type);
    },
    startWorker: start,
    async close() {
      await Promise.all(workers.map((running) => running.close()));
      await app.close();
      await facilitator.close();
    },
  };
}
