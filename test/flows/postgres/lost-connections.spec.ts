import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type Random, seededRandom } from '../../../lab/world/chance/seeded-random.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { loadConfig } from '../../../shared/config/config.js';
import { Payment } from '../../../shared/payments/model.js';
import type { Closable } from '../../../shared/process/shutdown.js';
import { openQueuePool } from '../../../shared/queues/queue-pool.js';
import type { SignedPayment } from '../../support/checkout.js';
import { doAllDueWork } from '../../support/due-work.js';
import { type MoneyFlow, openMoneyFlow } from '../../support/money-flow.js';
import { createDatabase } from '../../support/suite.js';

const SEED = Number(process.env.MONEY_SEED ?? '20261102');
const PAYMENTS = 50;
const BUYERS = 8;
const MOST_TRIES = 60;

for (const store of ['Redis', 'Postgres'] as const) {
  describe(`fifty payments while Postgres ends connections, with the queue in ${store}`, () => {
    let flow: MoneyFlow;
    let worker: Closable;
    const random = seededRandom(SEED);
    const answers: { status: number; sessionId: string }[] = [];

    before(async () => {
      const environment = {
        SETTLE_WAIT_MS: '1000',
        FACILITATOR_SETTLE_TIMEOUT_MS: '400',
        ...(store === 'Postgres' && { REDIS_URL: '' }),
      };
      flow = await openMoneyFlow(`lost_connections_${store.toLowerCase()}`, { environment, worker: false });
      worker = await flow.startWorker();
    });
    after(() => flow.close());

    it(`are all paid once (MONEY_SEED=${SEED})`, async () => {
      const toPay: [string, SignedPayment][] = [];
      for (let count = 0; count < PAYMENTS; count += 1) {
        const { id } = await flow.buildSession();
        toPay.push([id, await flow.sign(id)]);
      }
      const sessionIds = toPay.map(([id]) => id);
      const ending = endConnections(flow.databaseUrl, random);
      const buyer = async (): Promise<void> => {
        for (let next = toPay.shift(); next !== undefined; next = toPay.shift()) await buy(...next);
      };
      await Promise.all(Array.from({ length: BUYERS }, buyer));
      const ended = await ending.stop();
      assert.ok(ended > 20, `only ${ended} connections were ended`);

      await worker.close();
      await doAllDueWork(flow, flow.openManualWorker());
      await flow.assertBooks();
      const sessions = await Promise.all(sessionIds.map((id) => flow.session(id)));
      assert.deepEqual(
        sessions.filter(({ status }) => status !== 'complete').map(({ id }) => id),
        [],
      );
      assert.equal(flow.facilitator.ledger.length, PAYMENTS);
    });

    it('and each buyer gets 200, 202, 409 or 503', () => {
      const odd = answers.filter(({ status }) => ![200, 202, 409, 503].includes(status));
      assert.deepEqual(odd, []);
    });

    it('and no payment is failed whose money moved', async () => {
      const wronged = await Payment.query(flow.db).where('status', 'succeeded').whereNotNull('failedAt');
      assert.deepEqual(wronged, []);
    });

    /** Sends the same payment until it is claimed. */
    async function buy(sessionId: string, signed: SignedPayment): Promise<void> {
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const { status } = await flow.visit(sessionId, { 'PAYMENT-SIGNATURE': signed.header });
        answers.push({ status, sessionId });
        if (status === 503)
          assert.equal(await countClaims(sessionId), 0, 'a payment answered 503 was claimed');
        else if (status !== 202) return;
        // A 202 whose claim could not be read may stand for a claim that was rolled back.
        else if ((await countClaims(sessionId)) > 0) return;
      }
      assert.fail(`${sessionId} was never claimed`);
    }

    /** Counts claims without the claims that were ruled out; retries, because this connection is terminated as well. */
    async function countClaims(sessionId: string): Promise<number> {
      const claims = { payableId: sessionId, payloadReleased: false };
      return await eventually(() => Payment.query(flow.db).where(claims).resultSize());
    }
  });
}

describe("a connection that is checked out of BullMQ's pool", () => {
  it('can be terminated without ending the process', async () => {
    const databaseUrl = await createDatabase('lent_connection');
    const { database } = loadConfig({ DATABASE_URL: databaseUrl }, 'migrate');
    const queuePool = openQueuePool(database, 1);
    const pool = queuePool.connection as unknown as pg.Pool;
    const lent = await pool.connect();
    const hasEnded = new Promise((resolve) => lent.once('end', resolve));
    const { rows } = await lent.query('SELECT pg_backend_pid() AS pid');
    // BullMQ removes its listener when it closes.
    lent.removeAllListeners('error');
    const admin = new pg.Client({ connectionString: databaseUrl });
    await admin.connect();
    await admin.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
    // An unhandled 'error' event would fail this test, as it would end a process.
    await hasEnded;
    await assert.rejects(lent.query('SELECT 1'));
    lent.release();
    assert.deepEqual((await pool.query('SELECT 1 AS one')).rows, [{ one: 1 }]);
    await Promise.all([admin.end(), queuePool.close()]);
  });
});

/** Terminates random connections one after the other, idle or not. When stopped, it waits until the last ones have ended. */
function endConnections(databaseUrl: string, random: Random): { stop(): Promise<number> } {
  let isOver = false;
  const run = async (): Promise<number> => {
    const admin = new pg.Client({ connectionString: databaseUrl });
    await admin.connect();
    const ended: number[] = [];
    while (!isOver) {
      const { rows } = await admin.query(
        `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1`,
      );
      ended.push(...rows.map(({ pid }) => pid));
      await pause(5 + random() * 40);
    }
    await eventually(async () => {
      const { rows } = await admin.query('SELECT FROM pg_stat_activity WHERE pid = ANY($1)', [ended]);
      assert.equal(rows.length, 0);
    });
    await admin.end();
    return ended.length;
  };
  const running = run();
  return {
    stop() {
      isOver = true;
      return running;
    },
  };
}
