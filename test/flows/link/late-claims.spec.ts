import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { Payment } from '../../../shared/payments/model.js';
import { correctClock, now, unmockedHostMs } from '../../../shared/process/clock.js';
import { claimPayable, type NewPayment } from '../../../shared/settlement/claim.js';
import { newId } from '../../../shared/values/ids.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';
import { EVENT_DEPS, type MoneyFlow, openMoneyFlow } from '../../support/money-flow.js';
import { newPayment } from '../../support/new-payment.js';

const HEADER = 'PAYMENT-SIGNATURE';
const TIMEOUT_MS = 1000;

describe('a claim that the network delays', () => {
  let flow: MoneyFlow;
  let proxy: TcpProxy;
  before(async () => {
    flow = await openMoneyFlow('late_claim', {
      worker: false,
      environment: { DATABASE_QUERY_TIMEOUT_MS: String(TIMEOUT_MS), DATABASE_POOL_SIZE: '2' },
      async around(databaseUrl) {
        proxy = await TcpProxy.start(databaseUrl);
        return { DATABASE_URL: proxy.url };
      },
    });
    await flow.startWorker({ DATABASE_URL: flow.databaseUrl });
  });
  after(async () => {
    proxy.thaw();
    await flow.close();
    await proxy.refuse();
  });

  it('is answered 503 and claims nothing when it arrives later; the same payload pays', async () => {
    const { id } = await flow.buildSession();
    const { header } = await flow.sign(id);
    const verified = flow.facilitator.verify.holdNext();
    const answer = flow.visit(id, { [HEADER]: header }).then(answerOf);
    await flow.facilitator.waitForCall('verify', 1);
    // Freezes the connections that are open now; later ones get through.
    let isOver = false;
    const freeze = proxy.freeze({ ways: ['up'], holds: () => !isOver });
    isOver = true;
    verified.release();
    assert.equal(await answer, '503 payment_service_unavailable');
    freeze.thaw();
    await eventually(async () => {
      const { rows } = await flow.db.raw(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()`,
      );
      assert.equal(rows.length, 0);
    });
    await sleep(TIMEOUT_MS);
    assert.equal((await flow.session(id)).status, 'open');
    assert.equal(flow.facilitator.calls.settle.length, 0);
    assert.equal(answerOf(await flow.visit(id, { [HEADER]: header })), '200 complete');
    await flow.assertBooks();
  });
});

describe("a buyer's payment identifier", () => {
  const flow = forAllTests(() => openMoneyFlow('named_claims', { worker: false }));

  it("is bound by a claim whose time is the earlier one of Postgres' clock and the host's", async () => {
    const { id } = await flow.buildSession();
    const at = unmockedHostMs();
    correctClock(at + 3_600_000, { askedAtMs: at, answeredAtMs: at });
    const claiming = claimPayable(flow.app.db, named(id), EVENT_DEPS);
    correctClock(unmockedHostMs(), { askedAtMs: unmockedHostMs(), answeredAtMs: unmockedHostMs() });
    assert.equal((await claiming).kind, 'claimed');
    const { claimedAt } = await flow.onlyPayment(id);
    // A search of the chain begins ten minutes before.
    assert.ok(Math.abs(claimedAt.getTime() - at) < 30_000, claimedAt.toISOString());
  });

  it("belongs to one payment, even when another one commits while the claim waits for the session's lock", async () => {
    const { id: sessionId } = await flow.buildSession();
    const first = { ...named(sessionId), id: newId('pay_'), claimedAt: now() };
    let second: Promise<unknown> | undefined;
    await flow.db.transaction(async (trx) => {
      const session = await CheckoutSession.query(trx).findById(sessionId).forUpdate().throwIfNotFound();
      // The claim's statement starts before the other payment is committed, and waits for the session's lock.
      second = claimPayable(flow.app.db, named(sessionId), EVENT_DEPS);
      await eventually(async () => {
        const { rows } = await flow.db.raw(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        assert.equal(rows.length, 1);
      });
      await Payment.query(trx).insert({
        ...first,
        accountId: session.accountId,
        livemode: session.livemode,
        amountCents: session.amountTotalCents,
        status: 'failed',
        stage: null,
      });
    });
    assert.deepEqual(await second, { kind: 'lost' });
    assert.equal((await flow.payments(sessionId)).length, 1);
    assert.equal((await flow.session(sessionId)).status, 'open');
  });

  const named = (sessionId: string): NewPayment =>
    newPayment(sessionId, { identifier: 'an-order-of-the-buyer', validUntil: now() });
});
