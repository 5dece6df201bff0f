import assert from 'node:assert/strict';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { eventually } from '../../lab/world/processes/eventually.js';
import { TcpProxy } from '../../lab/world/processes/pause-points.js';
import { buildSessions } from '../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { runStatement } from '../../shared/db/statement.js';
import { resetClock } from '../../shared/process/clock.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { openQueuePool } from '../../shared/queues/queue-settings.js';
import { walkDueWork } from '../support/due-work.js';
import { type MoneyFlow, openMoneyFlow } from '../support/money-flow.js';
import { createDatabase } from '../support/suite.js';

/** How long a statement is waited for here, and how long the path to Postgres stands still: longer. */
const PATIENCE_MS = 400;
const FROZEN_MS = 1000;
const INSERT = { name: 'note', text: 'INSERT INTO notes VALUES ($1)' };

describe('a connection to Postgres whose path freezes and comes back', () => {
  let proxy: TcpProxy & { databaseUrl: string };
  let direct: Knex;
  let db: Knex;

  before(async () => {
    const url = await createDatabase('frozen');
    proxy = await TcpProxy.before(url);
    direct = open(url);
    await direct.raw('CREATE TABLE notes (note text)');
  });
  beforeEach(() => {
    db = open(proxy.databaseUrl, '1');
  });
  afterEach(async () => {
    proxy.resume();
    await db.destroy();
    await direct.raw('TRUNCATE notes');
  });
  after(async () => {
    await direct.destroy();
    await proxy.refuse();
  });

  /** The work begins while nothing gets through; what it has sent arrives later. */
  async function whileFrozen(work: () => Promise<unknown>): Promise<void> {
    await db.raw('SELECT 1');
    proxy.stall();
    const gaveUp = assert.rejects(work());
    await sleep(FROZEN_MS);
    proxy.resume();
    await gaveUp;
  }

  async function nobodyIsInATransaction(): Promise<void> {
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
    await nobodyIsInATransaction();
    return notes;
  }

  const AS_TOLD = ['by hand', 'by knex'];

  it('in BEGIN: nothing that is said to be written afterwards is taken back', async () => {
    await whileFrozen(() => db.transaction((trx) => trx.raw('SELECT 1')));
    assert.deepEqual(await writeMore(), AS_TOLD);
  });

  it('in ROLLBACK: as well', async () => {
    await whileFrozen(() =>
      db.transaction(async (trx) => {
        await trx('notes')
          .insert({ note: 'undone' })
          .timeout(PATIENCE_MS * 2);
        throw new Error('undo');
      }),
    );
    assert.deepEqual(await writeMore(), AS_TOLD);
  });

  it('in COMMIT: what it may have committed is told as failed, and the next has a connection of its own', async () => {
    await assert.rejects(
      db.transaction(async (trx) => {
        await trx('notes').insert({ note: 'perhaps' });
        proxy.stall();
      }),
    );
    proxy.resume();
    const notes = await writeMore();
    assert.deepEqual(
      notes.filter((note) => note !== 'perhaps'),
      AS_TOLD,
    );
  });

  it('in nothing, but for a statement that failed unheard: its COMMIT undoes it, and that is told', async () => {
    const undone = db.transaction(async (trx) => {
      await trx('notes').insert({ note: 'undone' });
      await trx.raw('SELECT 1 / 0').catch(() => undefined);
    });
    await assert.rejects(undone, /rolled back by its COMMIT/);
    assert.deepEqual(await writeMore(), AS_TOLD);
  });

  it('in a statement alone: as well, written by hand or by knex', async () => {
    await whileFrozen(() => runStatement(db, INSERT, ['perhaps']));
    await whileFrozen(() => db('notes').insert({ note: 'perhaps' }));
    const notes = await writeMore();
    assert.deepEqual(
      notes.filter((note) => note !== 'perhaps'),
      AS_TOLD,
    );
  });

  it('that logs in and then answers nothing, as behind a pooler that pauses, is not left open', async () => {
    const held: (() => void)[] = [];
    let isOpen = 0;
    const pooler = net.createServer((near) => {
      isOpen += 1;
      const far = net.connect(proxy.port, '127.0.0.1').on('error', () => undefined);
      near
        .on('error', () => undefined)
        .on('close', () => {
          isOpen -= 1;
          far.destroy();
        });
      far.on('close', () => near.destroy()).pipe(near);
      near.on('data', (bytes) => {
        if (bytes.includes('clock_timestamp')) held.push(() => far.write(bytes));
        else far.write(bytes);
      });
    });
    await new Promise<void>((listening) => pooler.listen(0, '127.0.0.1', listening));
    const { port } = pooler.address() as net.AddressInfo;
    const paused = open(proxy.databaseUrl.replace(`:${proxy.port}/`, `:${port}/`));
    await assert.rejects(paused.raw('SELECT 1'));
    for (const go of held) go();
    await eventually(() => assert.equal(isOpen, 0));
    await paused.destroy();
    pooler.close();
  });

  it('is destroyed when it is taken, or comes back, in the middle of something, and the log says so', async () => {
    const said: string[] = [];
    db.client.config.onDestroyed = (why: string) => said.push(why);
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
    assert.deepEqual(said, ['it was not idle when it was released', 'it was not idle in the pool']);
  });

  it("is destroyed in BullMQ's pool when it comes back in the middle of something", async () => {
    const queuePool = openQueuePool(databaseOf(proxy.databaseUrl, '1'), 1);
    const pool = queuePool.connection as unknown as pg.Pool;
    const lent = await pool.connect();
    await lent.query('BEGIN');
    lent.release();
    await pool.query('INSERT INTO public.notes VALUES ($1)', ['kept']);
    await queuePool.close();
    assert.deepEqual(await direct('notes').pluck('note'), ['kept']);
    await nobodyIsInATransaction();
  });

  it('does not stay locked at Postgres when nobody comes back to its transaction', async () => {
    const gone = db.transaction(async (trx) => {
      await trx('notes').insert({ note: 'undone' });
      await sleep(PATIENCE_MS * 3);
      return await trx('notes').insert({ note: 'undone' });
    });
    await assert.rejects(gone);
    assert.deepEqual(await direct('notes').pluck('note'), []);
  });
});

describe('payments while the path to Postgres freezes and comes back', () => {
  let flow: MoneyFlow;
  let worker: Closable;
  const proxies: (TcpProxy & { databaseUrl: string })[] = [];

  before(async () => {
    const environment = {
      SETTLE_WAIT_MS: '500',
      FACILITATOR_SETTLE_TIMEOUT_MS: '400',
      DATABASE_QUERY_TIMEOUT_MS: String(PATIENCE_MS),
    };
    const around = async (databaseUrl: string): Promise<Record<string, string>> => {
      const [web, settling] = await Promise.all([TcpProxy.before(databaseUrl), TcpProxy.before(databaseUrl)]);
      proxies.push(web, settling);
      return { DATABASE_URL: web.databaseUrl };
    };
    flow = await openMoneyFlow('frozen_payments', { environment, around, worker: false });
    worker = await flow.startWorker({ DATABASE_URL: proxies[1]?.databaseUrl ?? '' });
  });
  after(async () => {
    for (const proxy of proxies) proxy.resume();
    await flow.close();
    for (const proxy of proxies) await proxy.refuse();
    resetClock();
  });

  it('are paid once, and nobody is told 402 whose money has moved', async function () {
    this.timeout(120_000);
    const told: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      const sessions = await buildSessions(flow.db, flow.merchant.accountId, 8);
      const signed = await Promise.all(sessions.map(({ id }) => eventually(() => flow.sign(id))));
      const paying = sessions.map(async ({ id }, index) => {
        const { status } = await flow.visit(id, { 'PAYMENT-SIGNATURE': signed[index]?.header ?? '' });
        told.push(status);
      });
      const frozen = proxies[round % 2];
      await sleep(round * 20);
      frozen?.stall();
      await sleep(FROZEN_MS);
      frozen?.resume();
      await Promise.all(paying);
    }
    await worker.close();
    await walkDueWork(flow, flow.openHands());
    await flow.assertBooks();
    assert.deepEqual(
      told.filter((status) => ![200, 202, 409, 503].includes(status)),
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
  return loadConfig({ ...settings, DATABASE_QUERY_TIMEOUT_MS: String(PATIENCE_MS) }, 'migrate').database;
}
