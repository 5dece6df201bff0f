import assert from 'node:assert/strict';
import pg from 'pg';
import { eventually } from '../../lab/world/processes/eventually.js';
import { startTestPostgres, type TestServer } from '../../lab/world/processes/services.js';
import { loadConfig } from '../../shared/config/config.js';
import { openDatabase } from '../../shared/db/knex.js';
import { migrate } from '../../shared/migrate.js';
import { createLogger } from '../../shared/process/logger.js';
import { claimSession } from '../../shared/settlement/claim.js';
import { type Checkout, openCheckout } from '../support/checkout.js';
import { told } from '../support/link-answers.js';
import { EVENT_DEPS } from '../support/money-flow.js';
import { newPayment } from '../support/new-payment.js';

const HEADER = 'PAYMENT-SIGNATURE';
/** A commit that waits is written, and outlives the server's processes; one that does not is in their memory. */
const SETTINGS = { fsync: 'off', synchronous_commit: 'on', full_page_writes: 'off', max_connections: 50 };

describe('a Postgres that crashes', () => {
  let postgres: TestServer;
  let operator: pg.Client;
  const checkouts: Checkout[] = [];
  before(async () => {
    postgres = await startTestPostgres(SETTINGS);
    await migrate(loadConfig({ DATABASE_URL: postgres.url }, 'migrate'), createLogger('silent', 'test'));
    operator = await connect();
  });
  // A worker of one spec would settle what the next one leaves claimed.
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

  /** Of a web process with no worker, so that nothing else is committed. */
  async function open(settleWaitMs: number): Promise<Checkout> {
    const environment = { DATABASE_URL: postgres.url, SETTLE_WAIT_MS: String(settleWaitMs) };
    const checkout = await openCheckout({ worker: false, environment });
    checkouts.push(checkout);
    return checkout;
  }

  /** Who writes what nobody waits for stands still, and dies: all of Postgres begins anew from its disk. */
  async function crashBeside(work: () => Promise<unknown>): Promise<void> {
    const { rows } = await operator.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'`,
    );
    const pid = rows[0]?.pid ?? assert.fail('nobody writes the log');
    process.kill(pid, 'SIGSTOP');
    await work();
    process.kill(pid, 'SIGKILL');
    await eventually(async () => {
      operator = await connect();
    });
  }

  const isClaimed = async (id: string): Promise<void> => {
    const { rowCount } = await operator.query('SELECT FROM payments WHERE checkout_session_id = $1', [id]);
    assert.equal(rowCount, 1);
  };

  it('may forget a claim of which nobody was told: the buyer is told 503, and the same signature pays', async () => {
    const checkout = await open(6000);
    for (let tries = 1; ; tries += 1) {
      const { id } = await checkout.buildSession();
      const { header } = await checkout.sign(id);
      const answer = checkout.visit(id, { [HEADER]: header }).then((res) => res);
      await crashBeside(() => eventually(() => isClaimed(id)));
      const said = await answer;
      // A failover, after which money may have moved, looks the same to it.
      assert.doesNotMatch(said.text, /no money moved/);
      const { status } = await checkout.session(id);
      // Somebody else's commit has taken the claim along to the disk.
      if (status === 'processing' && tries < 5) continue;
      assert.deepEqual([told(said), status], ['503 payment_service_unavailable', 'open']);
      assert.equal(checkout.facilitator.calls.settle.length, 0);
      await checkout.startWorker({ DATABASE_URL: postgres.url });
      assert.equal(told(await checkout.visit(id, { [HEADER]: header })), '200 complete');
      await eventually(() => assert.equal(checkout.facilitator.ledger.length, tries));
      return;
    }
  });

  it('has a claim on its disk before a buyer is told 202', async () => {
    const checkout = await open(0);
    const { id } = await checkout.buildSession();
    await crashBeside(async () => assert.equal(told(await checkout.pay(id)), '202 processing'));
    await eventually(async () => assert.equal((await checkout.session(id)).status, 'processing'));
  });

  it('waits for the disk again with what comes after a claim on its connection', async () => {
    const checkout = await open(0);
    const { id } = await checkout.buildSession();
    const config = loadConfig({ DATABASE_URL: postgres.url, DATABASE_POOL_SIZE: '1' }, 'cli');
    const db = openDatabase(config.database);
    try {
      const claim = await claimSession(db, newPayment(id), EVENT_DEPS);
      assert.equal(claim.kind, 'claimed');
      const { rows } = await db.raw('SHOW synchronous_commit');
      assert.deepEqual(rows, [{ synchronous_commit: 'on' }]);
    } finally {
      await db.destroy();
    }
  });
});
