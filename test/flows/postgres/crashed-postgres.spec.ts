import assert from 'node:assert/strict';
import pg from 'pg';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { startTestPostgres, type TestServer } from '../../../lab/world/processes/services.js';
import { loadConfig } from '../../../shared/config/config.js';
import { openDatabase } from '../../../shared/db/knex.js';
import { createLogger } from '../../../shared/process/logger.js';
import { migrate } from '../../../shared/schema/migrate.js';
import { claimPayable } from '../../../shared/settlement/claim.js';
import { type Checkout, openCheckout, PAID } from '../../support/checkout.js';
import { answerOf } from '../../support/link-answers.js';
import { EVENT_DEPS } from '../../support/money-flow.js';
import { newPayment } from '../../support/new-payment.js';

const HEADER = 'PAYMENT-SIGNATURE';
/**
 * A commit that waits (synchronous_commit) is in the operating system's cache and outlives the server's processes;
 * an asynchronous commit is in their memory only.
 */
const SETTINGS = { fsync: 'off', synchronous_commit: 'on', full_page_writes: 'off', max_connections: 50 };

describe('a Postgres server that crashes', () => {
  let postgres: TestServer;
  let operator: pg.Client;
  const checkouts: Checkout[] = [];
  before(async () => {
    postgres = await startTestPostgres(SETTINGS);
    await migrate(loadConfig({ DATABASE_URL: postgres.url }, 'migrate'), createLogger('silent', 'test'));
    operator = await connect();
  });
  // A worker started by one spec would settle the payments that the next spec leaves claimed.
  afterEach(async () => {
    for (const checkout of checkouts.splice(0)) await checkout.close();
  });
  after(async () => {
    await operator.end();
    await postgres.stop();
  });

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: postgres.url });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** Opens a web process without a worker, so that no other commit flushes the claim to disk. */
  async function open(settleWaitMs: number): Promise<Checkout> {
    const environment = { DATABASE_URL: postgres.url, SETTLE_WAIT_MS: String(settleWaitMs) };
    const checkout = await openCheckout({ worker: false, environment });
    checkouts.push(checkout);
    return checkout;
  }

  /**
   * Stops the WAL writer, which flushes asynchronous commits, runs `work`, and kills the WAL writer: Postgres
   * restarts from its disk.
   */
  async function crashBeside(work: () => Promise<unknown>): Promise<void> {
    const { rows } = await operator.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'`,
    );
    const pid = rows[0]?.pid ?? assert.fail('there is no WAL writer');
    process.kill(pid, 'SIGSTOP');
    await work();
    // Until Postgres has noticed, it still accepts connections, and ends them.
    const ended = new Promise<void>((resolve) => operator.once('end', resolve));
    process.kill(pid, 'SIGKILL');
    await ended;
    await eventually(async () => {
      operator = await connect();
    });
  }

  const isClaimed = async (id: string): Promise<void> => {
    const { rowCount } = await operator.query('SELECT FROM payments WHERE payable_id = $1', [id]);
    assert.equal(rowCount, 1);
  };

  it('may forget a claim whose buyer has no answer yet: the buyer gets 503, and the same signature pays later', async () => {
    const checkout = await open(6000);
    for (let tries = 1; ; tries += 1) {
      const { id } = await checkout.buildSession();
      const { header } = await checkout.sign(id);
      const answer = checkout.visit(id, { [HEADER]: header }).then((res) => res);
      await crashBeside(() => eventually(() => isClaimed(id)));
      const response = await answer;
      // A failover, after which money may have moved, is the same to the web process.
      assert.doesNotMatch(response.text, /no money/);
      const { status } = await checkout.session(id);
      // Another commit has flushed the claim to disk too.
      if (status === 'processing' && tries < 5) continue;
      assert.deepEqual([answerOf(response), status], ['503 payment_service_unavailable', 'open']);
      assert.equal(checkout.facilitator.calls.settle.length, 0);
      await checkout.startWorker({ DATABASE_URL: postgres.url });
      assert.equal(answerOf(await checkout.visit(id, { [HEADER]: header })), '200 complete');
      await eventually(() => assert.equal(checkout.facilitator.ledger.length, tries));
      return;
    }
  });

  it('has the claim on disk before the buyer gets 202', async () => {
    const checkout = await open(0);
    const { id } = await checkout.buildSession();
    await crashBeside(async () => assert.equal(answerOf(await checkout.pay(id)), '202 processing'));
    await eventually(async () => assert.equal((await checkout.session(id)).status, 'processing'));
  });

  describe('whose role commits asynchronously by default', () => {
    before(() => operator.query(`ALTER ROLE CURRENT_USER SET synchronous_commit = 'off'`));
    after(() => operator.query('ALTER ROLE CURRENT_USER RESET synchronous_commit'));

    it('has the claim on disk before the buyer gets 202', async () => {
      const checkout = await open(0);
      const { id } = await checkout.buildSession();
      await crashBeside(async () => assert.equal(answerOf(await checkout.pay(id)), '202 processing'));
      await eventually(async () => assert.equal((await checkout.session(id)).status, 'processing'));
    });

    it('has the mark on disk before /settle is called, so that the payment is there when it has paid', async () => {
      const checkout = await open(6000);
      const { id } = await checkout.buildSession();
      await checkout.startWorker({ DATABASE_URL: postgres.url });
      const call = checkout.facilitator.settle.holdNext();
      const { header } = await checkout.sign(id);
      const answer = checkout.visit(id, { [HEADER]: header }).then((res) => res);
      await crashBeside(() => eventually(() => assert.equal(checkout.facilitator.calls.settle.length, 1)));
      call.release();
      assert.notEqual((await answer).status, 402);
      await eventually(async () => {
        assert.deepEqual(await checkout.state(id), PAID);
      });
      assert.equal(checkout.facilitator.ledger.length, 1);
    });
  });

  it('commits synchronously again on a connection that has made a claim', async () => {
    const checkout = await open(0);
    const { id } = await checkout.buildSession();
    const config = loadConfig({ DATABASE_URL: postgres.url, DATABASE_POOL_SIZE: '1' }, 'cli');
    const db = openDatabase(config.database);
    try {
      const claim = await claimPayable(db, newPayment(id), EVENT_DEPS);
      assert.equal(claim.kind, 'claimed');
      const { rows } = await db.raw('SHOW synchronous_commit');
      assert.deepEqual(rows, [{ synchronous_commit: 'on' }]);
    } finally {
      await db.destroy();
    }
  });
});
