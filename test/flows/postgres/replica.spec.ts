import assert from 'node:assert/strict';
import request from 'supertest';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { startPair, wasAsked } from '../../../lab/world/processes/standby.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { startReceiver } from '../../../lab/world/receiver/receiver.js';
import {
  buildEndpoints,
  buildEvent,
  buildMerchant,
  buildPaidSession,
  buildRefund,
  buildSession,
  type Merchant,
} from '../../../lab/world/shop/factories.js';
import { createApiKey, revokeApiKey } from '../../../shared/accounts/api-keys.js';
import { loadConfig } from '../../../shared/config/config.js';
import { openReplica, type Replica } from '../../../shared/db/replica.js';
import { createLogger } from '../../../shared/process/logger.js';
import { newId } from '../../../shared/values/ids.js';
import { startWorker } from '../../../workers/process/start-worker.js';
import { assertUnauthenticated, type Client, client } from '../../support/api-client.js';
import { openTestApp, type TestApp } from '../../support/app.js';
import { forAllTests } from '../../support/hooks.js';
import { loggerWithLines } from '../../support/log-lines.js';
import { ENDPOINTS, minimal, SESSIONS } from '../../support/orders.js';
import { idsOf } from '../../support/pages.js';
import { testServices } from '../../support/suite.js';

const TOKEN = 'a token for the metrics page';

describe('a read replica', () => {
  const pair = forAllTests(startPair);
  /** Two web processes. */
  let apps: [TestApp, TestApp];
  let merchant: Merchant;
  let here: Client;
  let there: Client;
  before(async () => {
    const open = (): Promise<TestApp> =>
      openTestApp({
        DATABASE_URL: pair.primary.url,
        DATABASE_REPLICA_URL: pair.standby.url,
        METRICS_TOKEN: TOKEN,
        WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
      });
    apps = [await open(), await open()];
  });
  /** Each spec has a merchant without recent writes, whose data has reached the standby. */
  beforeEach(async () => {
    merchant = await buildMerchant(pair.primary.db);
    [here, there] = apps.map((app) => client(app, merchant.testKey)) as [Client, Client];
    if (!promoted) await shown();
  });
  afterEach(() => (promoted ? undefined : pair.resumeReplay()));
  after(async () => {
    for (const app of apps) await app.close();
  });
  let promoted = false;

  /** Waits until both processes know that the standby is current. */
  async function shown(): Promise<void> {
    const { rows } = await pair.primary.db.raw('SELECT clock_timestamp()::text AS at');
    await eventually(async () => {
      for (const { replica } of apps) {
        const until = replica?.shownUntil();
        assert.ok(until !== undefined);
        const { rows: later } = await pair.primary.db.raw('SELECT ?::timestamptz > ?::timestamptz AS is', [
          until,
          rows[0].at,
        ]);
        assert.ok(later[0].is);
      }
    });
  }

  const asked = (words: string): Promise<boolean> => wasAsked(pair.standby.db, words);

  it('serves lists, retrievals and exports of merchants without recent writes', async () => {
    const { db } = pair.primary;
    const { accountId } = merchant;
    const { session, payment } = await buildPaidSession(db, accountId);
    const refund = await buildRefund(db, accountId);
    const [endpoint] = await buildEndpoints(db, accountId, 1);
    const { body: object } = await here.get(`${SESSIONS}/${session.id}`).expect(200);
    const event = await buildEvent(db, accountId, object);
    await shown();
    const reads: Record<string, string> = {
      [SESSIONS]: 'FROM checkout_sessions session',
      [`${SESSIONS}/${session.id}`]: 'AS requested (id, account_id, livemode, key_id, position)',
      '/v1/payments': 'FROM payments payment',
      [`/v1/payments/${payment.id}`]: 'payment.id = ANY',
      '/v1/refunds': 'FROM refunds refund',
      [`/v1/refunds/${refund.id}`]: 'refund.id = ANY',
      '/v1/events': 'FROM events event',
      [`/v1/events/${event}`]: 'event.id = ANY',
      [ENDPOINTS]: 'FROM webhook_endpoints endpoint',
      [`${ENDPOINTS}/${endpoint}`]: 'from "webhook_endpoints"',
    };
    for (const [path, words] of Object.entries(reads)) {
      await eventually(async () => {
        await here.get(path).expect(200);
        assert.ok(await asked(words), path);
      });
    }
    await eventually(async () => {
      const csv = request(apps[0].server).get('/v1/payments').accept('text/csv');
      await csv.set('Authorization', `Bearer ${merchant.testKey}`).expect(200);
      assert.ok(await asked('LIMIT 1001'), 'as CSV');
    });
  });

  it('never shows a merchant an older state than it has written, in any process', async () => {
    await pair.pauseReplay();
    const { body: session } = await here.post(SESSIONS, minimal).expect(200);
    assert.equal((await there.get(`${SESSIONS}/${session.id}`).expect(200)).body.status, 'open');
    assert.deepEqual(idsOf((await there.get(SESSIONS).expect(200)).body), [session.id]);
    await there.post(`${SESSIONS}/${session.id}/expire`).expect(200);
    assert.equal((await here.get(`${SESSIONS}/${session.id}`).expect(200)).body.status, 'expired');
    assert.deepEqual(idsOf((await here.get(`${SESSIONS}?status=open`).expect(200)).body), []);
    const { body: endpoint } = await there.post(ENDPOINTS, { url: 'https://1.1.1.1/a' }).expect(200);
    await here.post(`${ENDPOINTS}/${endpoint.id}`, { url: 'https://1.1.1.1/b' }).expect(200);
    const path = `${ENDPOINTS}/${endpoint.id}`;
    assert.equal((await there.get(path).expect(200)).body.url, 'https://1.1.1.1/b');
    await there.delete(path).expect(200);
    await here.get(path).expect(404);
    assert.deepEqual(idsOf((await here.get(ENDPOINTS).expect(200)).body), []);
  });

  it('is not used right after a repeated change by the same key, in any process', async () => {
    const { body: endpoint } = await here.post(ENDPOINTS, { url: 'https://1.1.1.1/a' }).expect(200);
    const path = `${ENDPOINTS}/${endpoint.id}`;
    // Stands for a long time without writes.
    await pair.primary.db.raw('UPDATE account_writes SET until = clock_timestamp()');
    await shown();
    await pair.pauseReplay();
    await there.post(path, { url: 'https://1.1.1.1/b' }).expect(200);
    for (const api of [here, there]) assert.equal((await api.get(path)).body.url, 'https://1.1.1.1/b');
  });

  it('is used again after a write, once it is known to have the write', async () => {
    await here.post(SESSIONS, minimal).expect(200);
    await pair.primary.db.raw('UPDATE account_writes SET until = clock_timestamp()');
    await eventually(async () => {
      await here.get(`${SESSIONS}?limit=7`).expect(200);
      assert.ok(await asked('LIMIT 8'));
    });
  });

  it('is not used for an unknown id, or for an object that may have changed', async () => {
    const open = await buildSession(pair.primary.db, merchant.accountId);
    await shown();
    await pair.pauseReplay();
    await pair.primary.db('payables').where({ id: open.id }).update({ status: 'expired' });
    assert.equal((await here.get(`${SESSIONS}/${open.id}`).expect(200)).body.status, 'expired');
    const later = await buildSession(pair.primary.db, merchant.accountId);
    await here.get(`${SESSIONS}/${later.id}`).expect(200);
    await here.get(`${SESSIONS}/${later.id}/line_items`).expect(200);
    await here.get(`${SESSIONS}?starting_after=${later.id}`).expect(200);
    await here.get(`${SESSIONS}/${newId('cs_test_')}`).expect(404);
  });

  it('does not serve keys: a new one works and a revoked one fails at once', async () => {
    const { accountId } = merchant;
    const old = await createApiKey(pair.primary.db, { accountId, livemode: false, name: 'Old' });
    const api = client(apps[0], old.secret);
    await api.get(SESSIONS).expect(200);
    await shown();
    await pair.pauseReplay();
    const { secret } = await createApiKey(pair.primary.db, { accountId, livemode: false, name: 'New' });
    await client(apps[0], secret).get(SESSIONS).expect(200);
    await revokeApiKey(pair.primary.db, old.key.id);
    for (const path of [SESSIONS, '/v1/payments', `${SESSIONS}/${newId('cs_test_')}`])
      assertUnauthenticated(await api.get(path), 'api_key_revoked');
  });

  it('is not used for a merchant that has just been sent an event', async () => {
    const { db } = pair.primary;
    const receiver = await startReceiver();
    await here.post(ENDPOINTS, { url: receiver.url }).expect(200);
    await db('accountWrites').delete();
    // The event comes from an expiry, not from a request of the merchant.
    const { id } = await buildSession(db, merchant.accountId, { expiresAt: new Date('2020-01-01') });
    let writesNoted: unknown[] = [];
    receiver.react((response) => {
      const pending = db('accountWrites').whereRaw('until > clock_timestamp()');
      void pending.then((rows: unknown[]) => {
        writesNoted = rows;
        response.writeHead(200).end();
      });
    });
    const settings = {
      DATABASE_URL: pair.primary.url,
      DATABASE_REPLICA_URL: pair.standby.url,
      REDIS_URL: testServices().redisUrl,
      FACILITATOR_URL: 'http://127.0.0.1:1',
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    };
    const worker = await startWorker(loadConfig(settings, 'worker'), createLogger('silent', 'test'));
    try {
      await eventually(() => assert.ok(receiver.got[0]?.raw.includes(id)));
      await eventually(() => assert.equal(writesNoted.length, 1), 5000);
    } finally {
      await worker.close();
      await receiver.close();
    }
  });

  it('is on the metrics page', async () => {
    const { text } = await client(apps[0])
      .get('/metrics')
      .set('Authorization', `Bearer ${TOKEN}`)
      .expect(200);
    assert.match(text, /^checkout_store_readable\{store="replica"\} 1$/m);
    assert.match(text, /^checkout_payments_processing 0$/m);
  });

  describe('is not used', () => {
    const { logger, lines } = loggerWithLines();
    let proxy: TcpProxy;
    let watched: Replica;
    before(async () => {
      proxy = await TcpProxy.start(pair.standby.url);
      const { database } = loadConfig({ DATABASE_URL: proxy.url }, 'migrate');
      const times = { checkEveryMs: 20, maxLagMs: 500, timeoutMs: 300 };
      watched = openReplica(pair.primary.db, database, logger, times);
      await eventually(() => assert.ok(watched.shownUntil(), 'the replica is not used yet'));
    });
    after(async () => {
      proxy.thaw();
      await watched.close();
      await proxy.refuse();
    });

    const reasons = (): unknown[] =>
      lines.filter(({ event }) => /^replica/.test(String(event))).map(({ why }) => why);
    const untilReason = (why: string | undefined): Promise<void> =>
      eventually(() => assert.equal(reasons().at(-1), why));
    const read = (): Promise<unknown> => watched.ask(async (db) => await db.raw('SELECT 1'));

    it('while it is behind', async () => {
      await pair.pauseReplay();
      await pair.primary.db.raw('SELECT pg_log_standby_snapshot()');
      await untilReason('behind');
      assert.equal(await read(), undefined);
      await pair.resumeReplay();
      await untilReason(undefined);
    });

    it('while it does not answer, and only the first requests wait for it', async () => {
      proxy.freeze();
      const answers = await Promise.all([read(), read()]);
      assert.deepEqual(answers, [undefined, undefined]);
      await untilReason('away');
      assert.equal(watched.shownUntil(), undefined);
      proxy.thaw();
      await untilReason(undefined);
      assert.ok(await read());
    });

    it('while it refuses connections', async () => {
      await proxy.refuse();
      await untilReason('away');
      await proxy.accept();
      await untilReason(undefined);
    });

    it('for one statement that it refuses, but for the next ones', async () => {
      const before_ = reasons().length;
      assert.equal(await watched.ask(async (db) => await db.raw('SELECT * FROM nothing')), undefined);
      assert.ok(watched.shownUntil());
      assert.equal(reasons().length, before_);
    });

    it('after its promotion, when it is another database', async () => {
      const { id } = await buildSession(pair.primary.db, merchant.accountId);
      await pair.caughtUp();
      await pair.standby.db.raw('SELECT pg_promote()');
      promoted = true;
      await untilReason('not_a_standby');
      await eventually(() => {
        for (const { replica } of apps) assert.equal(replica?.shownUntil(), undefined);
      });
      await pair.standby.db.raw("UPDATE payables SET status = 'expired', client_reference_id = 'elsewhere'");
      const [{ client_reference_id: reference } = assert.fail()] = (await here.get(SESSIONS).expect(200)).body
        .data;
      assert.equal(reference, null);
      assert.equal((await here.get(`${SESSIONS}/${id}`).expect(200)).body.status, 'open');
      await here.post(SESSIONS, minimal).expect(200);
      assert.equal((await client(apps[0]).get('/readyz')).status, 200);
      assert.deepEqual(reasons().slice(-2), [undefined, 'not_a_standby'], 'one line for each change');
    });
  });
});
