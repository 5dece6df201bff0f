import assert from 'node:assert/strict';
import request from 'supertest';
import { findFreePort } from '../../../lab/world/http/listen.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { buildMerchant } from '../../../lab/world/shop/factories.js';
import { client } from '../../support/api-client.js';
import { openTestApp, type TestApp } from '../../support/app.js';
import { minimal, SESSIONS } from '../../support/orders.js';
import { createMigratedDatabase } from '../../support/suite.js';

const OK = { database: 'ok', migrations: 'ok', queue_store: 'ok', clock: 'ok' };

describe('/readyz', () => {
  let databaseUrl: string;
  let proxy: TcpProxy;
  let app: TestApp;
  before(async () => {
    databaseUrl = await createMigratedDatabase('readiness');
    proxy = await TcpProxy.start(databaseUrl);
    app = await openTestApp({ DATABASE_URL: proxy.url });
    await untilReadyzSays(200, { status: 'ready', ...OK });
  });
  after(async () => {
    await app.close();
    await proxy.refuse();
  });

  async function untilReadyzSays(status: number, body: object, of: TestApp = app): Promise<void> {
    await eventually(async () => {
      const res = await request(of.server).get('/readyz');
      assert.deepEqual([res.status, res.body], [status, body]);
    });
  }

  const notReady = (database: string, migrations = 'ok'): [number, object] => [
    503,
    { status: 'not_ready', ...OK, database, migrations },
  ];

  async function makeReadOnly(how: 'on' | 'off'): Promise<void> {
    const name = new URL(databaseUrl).pathname.slice(1);
    await app.db.raw(`SET default_transaction_read_only = off`);
    await app.db.raw(`ALTER DATABASE ${name} SET default_transaction_read_only = ${how}`);
    proxy.cut();
  }

  it('is not ready while Postgres is read-only', async () => {
    await makeReadOnly('on');
    try {
      await untilReadyzSays(...notReady('read_only'));
    } finally {
      await makeReadOnly('off');
    }
    await untilReadyzSays(200, { status: 'ready', ...OK });
  });

  it('is not ready while the disk of Postgres is full', async () => {
    await app.db.raw(`
      CREATE FUNCTION raise_disk_full() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`);
    await app.db.raw(`
      CREATE TRIGGER raise_disk_full BEFORE INSERT ON write_probes
      FOR EACH ROW EXECUTE FUNCTION raise_disk_full()`);
    try {
      await untilReadyzSays(...notReady('full'));
    } finally {
      await app.db.raw('DROP FUNCTION raise_disk_full CASCADE');
    }
    await untilReadyzSays(200, { status: 'ready', ...OK });
  });

  it('is not ready while Postgres does not answer', async () => {
    const freeze = proxy.freeze();
    try {
      await untilReadyzSays(...notReady('down', 'unknown'));
    } finally {
      freeze.thaw();
    }
    await untilReadyzSays(200, { status: 'ready', ...OK });
  });

  it('is ready while requests have taken every connection of the pool', async () => {
    const busy = await openTestApp({ DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: '2' });
    const taken = await Promise.all([1, 2].map(() => busy.db.client.acquireConnection()));
    try {
      await untilReadyzSays(200, { status: 'ready', ...OK }, busy);
    } finally {
      for (const connection of taken) await busy.db.client.releaseConnection(connection);
      await busy.close();
    }
  });

  it('writes to a new page of its probe table, and leaves no row behind', async () => {
    const size = async (): Promise<number> =>
      Number((await app.db.raw(`SELECT pg_relation_size('write_probes') AS bytes`)).rows[0].bytes);
    const before = await size();
    await eventually(async () => {
      await request(app.server).get('/readyz');
      assert.ok((await size()) > before);
    });
    assert.equal((await app.db('write_probes').select()).length, 0);
    await app.db.raw('VACUUM write_probes');
    assert.equal(await size(), 0);
  });

  it('is ready and degraded without Redis, which no merchant needs, or without the tables of a queue in Postgres', async () => {
    const degraded = { status: 'ready', degraded: 'queue store', ...OK, queue_store: 'down' };
    const withoutRedis = await openTestApp({ REDIS_URL: `redis://127.0.0.1:${await findFreePort()}` });
    const queueless = await openTestApp({ REDIS_URL: '', DATABASE_URL: databaseUrl });
    try {
      await untilReadyzSays(200, degraded, withoutRedis);
      const { testKey } = await buildMerchant(withoutRedis.db);
      await client(withoutRedis, testKey).post(SESSIONS, minimal).expect(200);
      await untilReadyzSays(200, { status: 'ready', ...OK }, queueless);
      await app.db.raw('DROP SCHEMA bullmq CASCADE');
      await untilReadyzSays(200, degraded, queueless);
    } finally {
      await withoutRedis.close();
      await queueless.close();
    }
  });
});
