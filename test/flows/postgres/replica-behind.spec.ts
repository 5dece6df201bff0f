import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { copyForStandby } from '../../../lab/world/processes/live-copy.js';
import { startPair } from '../../../lab/world/processes/standby.js';
import {
  buildMerchant,
  buildPaidSession,
  buildRefund,
  buildSession,
  type Merchant,
} from '../../../lab/world/shop/factories.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../local/postgres/embedded-postgres.js';
import { loadConfig } from '../../../shared/config/config.js';
import { openReplica, type Replica } from '../../../shared/db/replica.js';
import { claimPayable } from '../../../shared/settlement/claim.js';
import { type Client, client } from '../../support/api-client.js';
import { openTestApp, type TestApp } from '../../support/app.js';
import { buildHeavySessions } from '../../support/heavy-sessions.js';
import { forAllTests } from '../../support/hooks.js';
import { loggerWithLines } from '../../support/log-lines.js';
import { EVENT_DEPS } from '../../support/money-flow.js';
import { newPayment } from '../../support/new-payment.js';
import { SESSIONS } from '../../support/orders.js';
import { idsOf } from '../../support/pages.js';

const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: 100 };

describe('a read replica', () => {
  const pair = forAllTests(startPair);

  describe('that is behind', () => {
    let app: TestApp;
    let merchant: Merchant;
    let api: Client;
    before(async () => {
      const environment = { DATABASE_URL: pair.primary.url, DATABASE_REPLICA_URL: pair.standby.url };
      app = await openTestApp(environment);
      merchant = await buildMerchant(pair.primary.db);
      api = client(app, merchant.testKey);
    });
    afterEach(() => pair.resumeReplay());
    after(() => app.close());

    /** Waits until the process uses the standby with every earlier write, and stops it there. */
    async function stopReplay(): Promise<void> {
      const { rows } = await pair.primary.db.raw('SELECT clock_timestamp() AS at');
      await eventually(() => assert.ok(new Date(app.replica?.shownUntil() ?? 0) > rows[0].at));
      await pair.pauseReplay();
    }

    const statusOf = async (path: string): Promise<string> => (await api.get(path).expect(200)).body.status;

    it('is not used for what late money may have completed', async () => {
      const { db } = pair.primary;
      const { accountId } = merchant;
      const failed = { status: 'failed', transaction: null, settledAt: null } as const;
      const { session, payment } = await buildPaidSession(db, accountId, failed);
      const refund = await buildRefund(db, accountId, { status: 'expired' });
      await db('payables').where({ id: session.id }).update({ status: 'expired', paymentId: null });
      await stopReplay();
      const late = { status: 'succeeded', transaction: '0xlate', settledAt: new Date() };
      await db('payments').where({ id: payment.id }).update(late);
      await db('payables').where({ id: session.id }).update({ status: 'complete', paymentId: payment.id });
      await db('payables').where({ id: refund.id }).update({ status: 'complete', paymentId: payment.id });
      assert.equal(await statusOf(`${SESSIONS}/${session.id}`), 'complete');
      assert.equal(await statusOf(`/v1/payments/${payment.id}`), 'succeeded');
      assert.equal(await statusOf(`/v1/refunds/${refund.id}`), 'succeeded');
    });

    it('is not used for a session with long line items that may have changed', async () => {
      const { db } = pair.primary;
      const [id = ''] = await buildHeavySessions(db, merchant.accountId, 1);
      await stopReplay();
      await db('payables').where({ id }).update({ status: 'expired' });
      assert.equal(await statusOf(`${SESSIONS}/${id}?expand[]=line_items`), 'expired');
    });

    it('is not used for the long objects of a list that the primary has listed', async () => {
      const { db } = pair.primary;
      await stopReplay();
      const long = await buildHeavySessions(db, merchant.accountId, 1);
      // The standby does not know the cursor, so the primary lists.
      const { id: cursor } = await buildSession(db, merchant.accountId);
      const path = `${SESSIONS}?starting_after=${cursor}&limit=1&expand[]=data.line_items`;
      assert.deepEqual(idsOf((await api.get(path).expect(200)).body), long);
    });

    it('is not known to be current up to a claim that is committed and not yet on disk', async () => {
      const { database } = loadConfig({ DATABASE_URL: pair.standby.url }, 'migrate');
      const times = { checkEveryMs: 10, maxLagMs: 60_000, timeoutMs: 3000 };
      const replica = openReplica(pair.primary.db, database, loggerWithLines().logger, times);
      const { id } = await buildSession(pair.primary.db, merchant.accountId);
      await eventually(() => assert.ok(replica.shownUntil()));
      const { rows } = await pair.primary.db.raw(
        "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'",
      );
      const { pid } = rows[0] ?? assert.fail('there is no WAL writer');
      process.kill(pid, 'SIGSTOP');
      try {
        assert.equal((await claimPayable(pair.primary.db, newPayment(id), EVENT_DEPS)).kind, 'claimed');
        const claimed = await pair.primary.db.raw('SELECT clock_timestamp() AS at');
        const isCovered = (): boolean =>
          new Date(replica.shownUntil() ?? 0).getTime() > claimed.rows[0].at.getTime();
        const shows = async (): Promise<boolean> =>
          (await pair.standby.db('payables').where({ id, status: 'processing' })).length === 1;
        for (let check = 0; check < 20; check += 1) {
          await sleep(20);
          if (isCovered()) assert.ok(await shows());
        }
        process.kill(pid, 'SIGCONT');
        await eventually(() => assert.ok(isCovered()));
        assert.ok(await shows());
      } finally {
        process.kill(pid, 'SIGCONT');
        await replica.close();
      }
    });
  });

  describe('after the other standby has become the primary', () => {
    const folders: string[] = [];
    let ofFormer: EmbeddedPostgres;
    let ofNew: EmbeddedPostgres;
    let replica: Replica;
    let lines: Record<string, unknown>[];
    before(async () => {
      ofFormer = await follow(pair.primary.url, 'of-former');
      ofNew = await follow(pair.standby.url, 'of-new');
      await failOver();
    });
    afterEach(() => replica.close());
    after(async () => {
      await Promise.all([ofFormer.stop(), ofNew.stop()]);
      for (const folder of folders) await rm(folder, { recursive: true, force: true });
    });

    /** Starts a standby of the server at this address, from a copy of the primary. */
    async function follow(address: string, name: string): Promise<EmbeddedPostgres> {
      const { rows } = await pair.primary.db.raw('SHOW data_directory');
      const folder = await copyForStandby({ url: pair.primary.url, dataDir: rows[0].data_directory }, name);
      folders.push(folder);
      const { searchParams, username } = new URL(address);
      const primary_conninfo = `host=${searchParams.get('host')} port=5432 user=${username}`;
      return await startEmbeddedPostgres({ dir: folder, settings: { ...SETTINGS, primary_conninfo } });
    }

    /** The former primary goes on, and its log is longer than that of the new one. */
    async function failOver(): Promise<void> {
      await pair.cutStream();
      await pair.primary.db.raw('CREATE TABLE filler AS SELECT generate_series(1, 50000) AS number');
      await pair.promote();
      await eventually(async () => {
        const { rows } = await pair.standby.db.raw('SELECT pg_is_in_recovery() AS "isStandby"');
        assert.equal(rows[0].isStandby, false);
      });
    }

    function open({ url }: EmbeddedPostgres): void {
      const config = loadConfig(
        {
          DATABASE_URL: pair.standby.url,
          DATABASE_REPLICA_URL: url,
          FACILITATOR_URL: 'http://127.0.0.1:1',
          REDIS_URL: 'redis://127.0.0.1:1',
        },
        'web',
      );
      assert.ok(config.replica !== undefined);
      const logged = loggerWithLines('info');
      lines = logged.lines;
      replica = openReplica(pair.standby.db, config.replica, logged.logger);
    }

    it('is left out when it still follows the former one, however far it is', async () => {
      open(ofFormer);
      const { event, why } = await eventually(() => lines.at(0) ?? assert.fail('nothing is logged yet'));
      assert.deepEqual([event, why], ['replica.left_out', 'behind']);
      assert.equal(replica.shownUntil(), undefined);
    });

    it('serves when it follows the new one', async () => {
      open(ofNew);
      await eventually(() => assert.notEqual(replica.shownUntil(), undefined));
      assert.equal(lines.at(-1)?.event, 'replica.serves');
    });
  });
});
