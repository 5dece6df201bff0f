import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import request from 'supertest';
import { watchSettlements } from '../../../api/payment-link/watch-settlements.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { loadConfig } from '../../../shared/config/config.js';
import { type Knex, openDatabase } from '../../../shared/db/knex.js';
import { createLogger } from '../../../shared/process/logger.js';
import { openTestApp, type TestApp } from '../../support/app.js';
import { createMigratedDatabase } from '../../support/suite.js';

/** Longer than a process stays ready without an answer of its probe. */
const UNREADY_AFTER_MS = 12_000;

describe('a process whose open connections to Postgres are dead, while new ones are answered,', () => {
  let proxy: TcpProxy;
  let app: TestApp;
  let direct: Knex;
  beforeEach(async () => {
    const url = await createMigratedDatabase('dead_connections');
    direct = openDatabase(loadConfig({ DATABASE_URL: url }, 'migrate').database);
    proxy = await TcpProxy.start(url);
    app = await openTestApp({ DATABASE_URL: proxy.url });
  });
  afterEach(async () => {
    await proxy.accept();
    proxy.cut();
    await app.close();
    await proxy.refuse();
    await direct.destroy();
  });

  /** The proxy drops the bytes of the open connections, and passes new connections' bytes on. */
  function killOpenConnections(): void {
    let isOpenNow = true;
    proxy.swallow({ holds: () => isOpenNow });
    isOpenNow = false;
  }

  it('stays ready', async () => {
    await request(app.server).get('/readyz').expect(200);
    killOpenConnections();
    const until = performance.now() + UNREADY_AFTER_MS;
    while (performance.now() < until) {
      await request(app.server).get('/readyz').expect(200);
      await pause(500);
    }
  });

  it('asks for the payments that buyers wait for by another one', async () => {
    const silent = { isOn: () => false, stop: () => undefined };
    const watch = watchSettlements(app.db, createLogger('silent', 'test'), () => silent);
    await app.db.raw('SELECT 1');
    const { rows } = await direct.raw('SELECT clock_timestamp() AS at');
    const killedAt: Date = rows[0].at;
    killOpenConnections();
    void watch.wait('pay_one', 60_000);
    // The open connections are in use, one after the other, until a new one is opened.
    await eventually(async () => {
      const { rows } = await direct.raw(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
         AND query_start > ? AND query LIKE '%FROM payments%' AND pid <> pg_backend_pid()`,
        [killedAt],
      );
      assert.ok(rows.length > 0);
    });
    watch.close();
  });
});
