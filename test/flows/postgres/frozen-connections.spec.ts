import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { buildSessions } from '../../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { loadConfig } from '../../../shared/config/config.js';
import { type Knex, openDatabase } from '../../../shared/db/knex.js';
import { runStatement } from '../../../shared/db/statement.js';
import { resetClock } from '../../../shared/process/clock.js';
import type { Closable } from '../../../shared/process/shutdown.js';
import { openQueuePool } from '../../../shared/queues/queue-pool.js';
import { doAllDueWork } from '../../support/due-work.js';
import { type MoneyFlow, openMoneyFlow } from '../../support/money-flow.js';
import { createDatabase } from '../../support/suite.js';

/** The timeout of a statement, and the longer time for which the path to Postgres is frozen. */
const TIMEOUT_MS = 400;
const FROZEN_MS = 1000;
const INSERT = { name: 'note', text: 'INSERT INTO notes VALUES ($1)' };

describe('a connection to Postgres whose network path freezes and recovers', () => {
  let databaseUrl: string;
  let proxy: TcpProxy;
  let direct: Knex;
  let db: Knex;

  before(async () => {
    databaseUrl = await createDatabase('frozen');
    proxy = await TcpProxy.start(databaseUrl);
    direct = open(databaseUrl);
    await direct.raw('CREATE TABLE notes (note text)');
  });
  beforeEach(() => {
    db = open(proxy.url, '1');
  });
  afterEach(async () => {
    proxy.thaw();
    await db.destroy();
    await direct.raw('TRUNCATE notes');
  });
  after(async () => {
    await direct.destroy();
    await proxy.refuse();
  });

  /** Starts the work while the path is frozen; its bytes arrive after the timeout. */
  async function whileFrozen(work: () => Promise<unknown>): Promise<void> {
    await db.raw('SELECT 1');
    proxy.freeze();
    const gaveUp = assert.rejects(work());
    await sleep(FROZEN_MS);
    proxy.thaw();
    await gaveUp;
  }

  async function assertNoOpenTransaction(): Promise<void> {
    await eventually(async () => {
      const { rows } = await direct.raw(
        `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
      );
      assert.deepEqual(rows, []);
    });
  }

  async function writeMore(): Promise<string[]> {
    await runStatement(db, INSERT, ['by hand']);
    await db('notes').insert({ note: 'by knex' });
    const notes = await direct('notes').pluck('note');
    await assertNoOpenTransaction();
    return notes;
  }

  const COMMITTED = ['by hand', 'by knex'];

  it('in BEGIN: later writes that were reported as committed are not rolled back', async () => {
    await whileFrozen(() => db.transaction((trx) => trx.raw('SELECT 1')));
    assert.deepEqual(await writeMore(), COMMITTED);
  });

  it('in ROLLBACK: later writes that were reported as committed are not rolled back', async () => {
    await whileFrozen(() =>
      db.transaction(async (trx) => {
        await trx('notes')
          .insert({ note: 'undone' })
          .timeout(TIMEOUT_MS * 2);
        throw new Error('undo');
      }),
    );
    assert.deepEqual(await writeMore(), COMMITTED);
  });

  it('in COMMIT: the transaction is reported as failed, and the next one uses another connection', async () => {
    await assert.rejects(
      db.transaction(async (trx) => {
        await trx('notes').insert({ note: 'perhaps' });
        proxy.freeze();
      }),
    );
    proxy.thaw();
    const notes = await writeMore();
    assert.deepEqual(
      notes.filter((note) => note !== 'perhaps'),
      COMMITTED,
    );
  });

  it('a COMMIT that rolls back, after a failed statement whose error was caught, is reported as failed', async () => {
    const undone = db.transaction(async (trx) => {
      await trx('notes').insert({ note: 'undone' });
      await trx.raw('SELECT 1 / 0').catch(() => undefined);
    });
    await assert.rejects(undone, /rolled back by its COMMIT/);
    assert.deepEqual(await writeMore(), COMMITTED);
  });

  it('in a single statement, by runStatement or knex: later writes are not rolled back', async () => {
    await whileFrozen(() => runStatement(db, INSERT, ['perhaps']));
    await whileFrozen(() => db('notes').insert({ note: 'perhaps' }));
    const notes = await writeMore();
    assert.deepEqual(
      notes.filter((note) => note !== 'perhaps'),
      COMMITTED,
    );
  });

  it('that logs in and gets no further answer, as behind a paused pooler, is closed', async () => {
    const pooler = await TcpProxy.start(databaseUrl);
    const freeze = pooler.freeze({ ways: ['up'], from: /clock_timestamp/ });
    const paused = open(pooler.url);
    await assert.rejects(paused.raw('SELECT 1'));
    freeze.thaw();
    await eventually(() => assert.equal(pooler.connections, 0));
    await paused.destroy();
    await pooler.refuse();
  });

  it('is destroyed when it is taken from or returned to the pool inside a transaction, with a log line', async () => {
    const reasons: string[] = [];
    db.client.config.onDestroyed = (why: string) => reasons.push(why);
    const connection: pg.Client = await db.client.acquireConnection();
    await connection.query('BEGIN');
    await db.client.releaseConnection(connection);
    await runStatement(db, INSERT, ['kept']);
    const idle: pg.Client = await db.client.acquireConnection();
    await db.client.releaseConnection(idle);
    await idle.query('BEGIN');
    await db('notes').insert({ note: 'kept too' });
    await db.destroy();
    assert.deepEqual(await direct('notes').pluck('note'), ['kept', 'kept too']);
    assert.deepEqual(reasons, ['it was not idle when it was released', 'it was not idle in the pool']);
  });

  it("is destroyed in BullMQ's pool when it is returned inside a transaction", async () => {
    const queuePool = openQueuePool(databaseOf(proxy.url, '1'), 1);
    const pool = queuePool.connection as unknown as pg.Pool;
    const lent = await pool.connect();
    await lent.query('BEGIN');
    lent.release();
    await pool.query('INSERT INTO public.notes VALUES ($1)', ['kept']);
    await queuePool.close();
    assert.deepEqual(await direct('notes').pluck('note'), ['kept']);
    await assertNoOpenTransaction();
  });

  it('is released by Postgres when its transaction is idle for too long', async () => {
    const gone = db.transaction(async (trx) => {
      await trx('notes').insert({ note: 'undone' });
      await sleep(TIMEOUT_MS * 3);
      return await trx('notes').insert({ note: 'undone' });
    });
    await assert.rejects(gone);
    assert.deepEqual(await direct('notes').pluck('note'), []);
  });
});

describe('payments while the network path to Postgres freezes and recovers', () => {
  let flow: MoneyFlow;
  let worker: Closable;
  const proxies: TcpProxy[] = [];

  before(async () => {
    const environment = {
      SETTLE_WAIT_MS: '500',
      FACILITATOR_SETTLE_TIMEOUT_MS: '400',
      DATABASE_QUERY_TIMEOUT_MS: String(TIMEOUT_MS),
    };
    const around = async (databaseUrl: string): Promise<Record<string, string>> => {
      const [web, settling] = await Promise.all([TcpProxy.start(databaseUrl), TcpProxy.start(databaseUrl)]);
      proxies.push(web, settling);
      return { DATABASE_URL: web.url };
    };
    flow = await openMoneyFlow('frozen_payments', { environment, around, worker: false });
    worker = await flow.startWorker({ DATABASE_URL: proxies[1]?.url ?? '' });
  });
  after(async () => {
    for (const proxy of proxies) proxy.thaw();
    await flow.close();
    for (const proxy of proxies) await proxy.refuse();
    resetClock();
  });

  it('are paid once, and no buyer whose money moved gets 402', async () => {
    const statuses: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      const sessions = await buildSessions(flow.db, flow.merchant.accountId, 8);
      const signed = await Promise.all(sessions.map(({ id }) => eventually(() => flow.sign(id))));
      const paying = sessions.map(async ({ id }, index) => {
        const { status } = await flow.visit(id, { 'PAYMENT-SIGNATURE': signed[index]?.header ?? '' });
        statuses.push(status);
      });
      const frozen = proxies[round % 2];
      await sleep(round * 20);
      frozen?.freeze();
      await sleep(FROZEN_MS);
      frozen?.thaw();
      await Promise.all(paying);
    }
    await worker.close();
    await doAllDueWork(flow, flow.openManualWorker());
    await flow.assertBooks();
    assert.deepEqual(
      statuses.filter((status) => ![200, 202, 409, 503].includes(status)),
      [],
    );
    const sessions = await CheckoutSession.query(flow.db).where({ accountId: flow.merchant.accountId });
    const paid = sessions.filter(({ status }) => status === 'complete').length;
    assert.equal(paid, flow.facilitator.ledger.length);
  });
});

function open(url: string, poolSize = '2'): Knex {
  return openDatabase(databaseOf(url, poolSize));
}

function databaseOf(url: string, poolSize: string): ReturnType<typeof loadConfig>['database'] {
  const settings = { DATABASE_URL: url, DATABASE_POOL_SIZE: poolSize };
  return loadConfig({ ...settings, DATABASE_QUERY_TIMEOUT_MS: String(TIMEOUT_MS) }, 'migrate').database;
}
