import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { startPair } from '../../../lab/world/processes/standby.js';
import {
  buildMerchant,
  buildPaidSession,
  buildRefund,
  buildSession,
  type Merchant,
} from '../../../lab/world/shop/factories.js';
import { loadConfig } from '../../../shared/config/config.js';
import { openReplica } from '../../../shared/db/replica.js';
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

describe('a read replica that is behind', () => {
  const pair = forAllTests(startPair);
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
