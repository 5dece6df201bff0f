import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { Redis } from 'ioredis';
import { now } from '../../shared/clock.js';
import { loadConfig } from '../../shared/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { createdAt } from '../../shared/ids.js';
import { createLogger } from '../../shared/logger.js';
import { CheckoutSession } from '../../shared/models/checkout-session.js';
import { Event } from '../../shared/models/event.js';
import type { Closable } from '../../shared/shutdown.js';
import { startWorker } from '../../workers/main.js';
import { client } from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { buildMerchant, buildPaidSession, buildSession, type Merchant } from '../support/factories.js';
import { createMigratedDatabase, testServices } from '../support/suite.js';

const ROOT = path.join(import.meta.dirname, '..', '..');
const SESSIONS = '/v1/checkout/sessions';
/** More than one batch of the worker. */
const MANY = 1100;

describe('the worker that expires sessions', function () {
  this.timeout(60_000);
  let databaseUrl: string;
  let db: Knex;
  let app: TestApp;
  let shop: Merchant;
  const workers: Closable[] = [];

  before(async () => {
    databaseUrl = await createMigratedDatabase('expire_sessions');
    db = openDatabase(loadConfig({ DATABASE_URL: databaseUrl }, 'migrate').database);
    app = await openTestApp({ DATABASE_URL: databaseUrl });
    shop = await buildMerchant(db);
  });
  after(async () => {
    await app.close();
    await db.destroy();
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.close()));
  });

  async function work(environment: Record<string, string>): Promise<Closable> {
    const config = loadConfig(
      {
        DATABASE_URL: databaseUrl,
        FACILITATOR_URL: 'http://127.0.0.1:1',
        BASE_URL: 'https://pay.example',
        ...environment,
      },
      'worker',
    );
    const worker = await startWorker(config, createLogger('silent', 'test'));
    workers.push(worker);
    return worker;
  }

  const overdueBy = (ms: number): { expiresAt: Date } => ({ expiresAt: new Date(now().getTime() - ms) });

  async function buildOverdue(count: number): Promise<string[]> {
    const build = (): Promise<CheckoutSession> => buildSession(db, shop.accountId, overdueBy(1));
    return (await Promise.all(Array.from({ length: count }, build))).map(({ id }) => id);
  }

  /** Each is expired, with exactly one event. */
  async function untilExpired(ids: readonly string[]): Promise<void> {
    await eventually(async () => {
      const open = await CheckoutSession.query(db).whereIn('id', ids).whereNot('status', 'expired');
      assert.equal(open.length, 0, `${open.length} of ${ids.length} sessions are not expired yet`);
    }, 30_000);
    const events = await Event.query(db).whereIn('checkoutSessionId', ids);
    assert.deepEqual(events.map(({ checkoutSessionId }) => checkoutSessionId).sort(), [...ids].sort());
    for (const { type } of events) assert.equal(type, 'checkout.session.expired');
  }

  const stores: [name: string, environment: () => Record<string, string>][] = [
    ['Redis', () => ({ REDIS_URL: testServices().redisUrl })],
    ['Postgres', () => ({})],
  ];
  for (const [name, environment] of stores) {
    describe(`with its queue in ${name}`, () => {
      it('expires what is overdue, with one event that holds the whole session', async () => {
        const fields = {
          metadata: { order: '7', ['__proto__']: 'kept' },
          successUrl: 'https://shop.example/thanks',
          cancelUrl: 'https://shop.example/cart',
          clientReferenceId: 'order-7',
          customerEmail: 'buyer@mail.example',
        };
        const test = await buildSession(db, shop.accountId, { ...fields, ...overdueBy(1) });
        const live = await buildSession(db, shop.accountId, { livemode: true, ...overdueBy(3_600_000) });
        await work(environment());
        await untilExpired([test.id, live.id]);
        for (const [session, key] of [
          [test, shop.testKey],
          [live, shop.liveKey],
        ] as const) {
          const event = await Event.query(db).findOne({ checkoutSessionId: session.id }).throwIfNotFound();
          const { text, body } = await client(app, key).get(`${SESSIONS}/${session.id}`);
          assert.equal(JSON.stringify(event.object), text);
          assert.deepEqual([body.status, body.payment_status, body.url], ['expired', 'unpaid', null]);
          assert.deepEqual([event.livemode, event.accountId], [session.livemode, shop.accountId]);
          assert.match(event.id, /^evt_/);
        }
      });

      it('leaves alone what is not due, and what is no longer open', async () => {
        const open = await buildSession(db, shop.accountId, overdueBy(-60_000));
        const processing = await buildSession(db, shop.accountId, {
          status: 'processing',
          paymentId: 'pay_elsewhere',
          ...overdueBy(60_000),
        });
        const { session: paid } = await buildPaidSession(db, shop.accountId);
        await CheckoutSession.query(db).patch(overdueBy(60_000)).where({ id: paid.id });
        const expired = await buildSession(db, shop.accountId, { status: 'expired', ...overdueBy(60_000) });
        await work(environment());
        // The worker has looked, twice, when these are expired.
        await untilExpired(await buildOverdue(1));
        await untilExpired(await buildOverdue(1));
        const kept = [open, processing, paid, expired];
        const rows = await CheckoutSession.query(db)
          .findByIds(kept.map(({ id }) => id))
          .orderBy('id');
        assert.deepEqual(
          rows.map(({ status }) => status),
          ['open', 'processing', 'complete', 'expired'],
        );
        const events = await Event.query(db).whereIn(
          'checkoutSessionId',
          kept.map(({ id }) => id),
        );
        assert.deepEqual(events, []);
        await CheckoutSession.query(db).patch({ status: 'expired' }).where({ id: open.id });
      });

      it('expires a session when its time has come, and not before', async () => {
        const expiresAt = new Date(now().getTime() + 1500);
        await work(environment());
        const { id } = await buildSession(db, shop.accountId, { expiresAt });
        await untilExpired([id]);
        const event = await Event.query(db).findOne({ checkoutSessionId: id }).throwIfNotFound();
        assert.ok(createdAt(event.id) >= expiresAt);
      });

      it('does so once, however many workers there are', async () => {
        const before = await buildOverdue(MANY);
        await Promise.all(Array.from({ length: 4 }, () => work(environment())));
        const meanwhile = await buildOverdue(20);
        await untilExpired([...before, ...meanwhile]);
      });

      it('does so once when merchants expire the same sessions at the same time', async () => {
        const ids = await buildOverdue(40);
        const api = client(app, shop.testKey);
        await Promise.all([work(environment()), work(environment())]);
        const answers = await Promise.all(ids.map((id) => api.post(`${SESSIONS}/${id}/expire`)));
        for (const { status, body } of answers) {
          assert.equal(
            status === 200 ? body.status : body.error.code,
            status === 200 ? 'expired' : 'checkout_session_not_open',
          );
        }
        await untilExpired(ids);
      });

      it('does so after other workers have come and gone', async () => {
        for (let round = 0; round < 3; round++) {
          const worker = await work(environment());
          const ids = await buildOverdue(5);
          await worker.close();
          workers.splice(workers.indexOf(worker), 1);
          await work(environment());
          await untilExpired(ids);
        }
      });
    });
  }

  describe('without a queue that it can rely on', () => {
    it('expires sessions although Redis is emptied again and again', async () => {
      const redis = new Redis(testServices().redisUrl);
      try {
        await work({ REDIS_URL: testServices().redisUrl });
        await work({ REDIS_URL: testServices().redisUrl });
        for (let round = 0; round < 5; round++) {
          const ids = await buildOverdue(10);
          let emptied = 0;
          await eventually(async () => {
            await redis.flushall();
            emptied += 1;
            const open = await CheckoutSession.query(db).whereIn('id', ids).whereNot('status', 'expired');
            assert.equal(open.length, 0, 'not expired yet');
          });
          assert.ok(emptied > 0);
          await untilExpired(ids);
        }
      } finally {
        await redis.quit();
      }
    });

    const redisAt = (url: string): Record<string, string> => ({
      REDIS_URL: url,
      WORKER_QUEUES: 'expire-sessions',
    });

    /** One to ring, one to work, one to wait for work. */
    const CONNECTIONS = 3;

    async function stopAll(relay: Relay): Promise<void> {
      relay.accept();
      await eventually(() => assert.ok(relay.connections() >= CONNECTIONS * workers.length, 'not back yet'));
      await Promise.all(workers.splice(0).map((worker) => worker.close()));
      await relay.close();
    }

    it('expires sessions when Redis was never there', async () => {
      const relay = await openRelay();
      relay.refuse();
      const ids = await buildOverdue(MANY);
      await work(redisAt(relay.url));
      await work(redisAt(relay.url));
      await untilExpired(ids);
      await stopAll(relay);
    });

    for (const away of ['refuse', 'hold'] as const) {
      const what =
        away === 'refuse' ? 'goes, comes back and goes again' : 'falls silent, speaks and falls silent';
      it(`expires sessions while Redis ${what}`, async () => {
        const relay = await openRelay();
        await work(redisAt(relay.url));
        await untilExpired(await buildOverdue(5));
        for (let round = 0; round < 2; round++) {
          relay[away]();
          await untilExpired(await buildOverdue(5));
          relay.accept();
          await untilExpired(await buildOverdue(5));
        }
        relay[away]();
        await untilExpired(await buildOverdue(5));
        await stopAll(relay);
      });
    }

    it('stops when it is told to, also while Redis is away, and leaves nothing running', async () => {
      const relay = await openRelay();
      relay.refuse();
      const environment = {
        DATABASE_URL: databaseUrl,
        FACILITATOR_URL: 'http://127.0.0.1:1',
        REDIS_URL: relay.url,
      };
      // A process of its own, which ends by itself when nothing is left to do, and not before.
      const script = `
        import { readConfig } from './shared/config.ts';
        import { createLogger } from './shared/logger.ts';
        import { startWorker } from './workers/main.ts';
        const worker = await startWorker(readConfig('worker'), createLogger('silent', 'test'));
        process.stdin.resume().once('end', () => worker.close());`;
      const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
        cwd: ROOT,
        env: { PATH: process.env.PATH, ...environment },
        stdio: ['pipe', 'ignore', 'inherit'],
      });
      const exited = once(child, 'exit');
      try {
        // It has run for a while, without Redis.
        await untilExpired(await buildOverdue(1));
        await untilExpired(await buildOverdue(1));
        child.stdin.end();
        await eventually(() => assert.equal(child.exitCode, 0, 'it has not ended yet'));
      } finally {
        child.kill('SIGKILL');
        await exited;
        await relay.close();
      }
    });
  });
});

/** Stands before Redis, and can be gone or silent. */
interface Relay {
  url: string;
  accept(): void;
  /** Cuts every connection, and each new one. */
  refuse(): void;
  /** Connections stay, but nothing comes through them. */
  hold(): void;
  connections(): number;
  close(): Promise<void>;
}

async function openRelay(): Promise<Relay> {
  const { hostname, port } = new URL(testServices().redisUrl);
  const sockets = new Set<Socket>();
  let mode: 'accept' | 'refuse' | 'hold' = 'accept';
  const server = createServer((near) => {
    if (mode === 'refuse') {
      near.destroy();
      return;
    }
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('data', (bytes) => {
        if (mode !== 'hold') other.write(bytes);
      });
      one.on('error', () => one.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accept() {
      // What was swallowed meanwhile would leave the two sides at odds.
      if (mode === 'hold') cut();
      mode = 'accept';
    },
    refuse() {
      mode = 'refuse';
      cut();
    },
    hold() {
      mode = 'hold';
    },
    connections: () => sockets.size / 2,
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
