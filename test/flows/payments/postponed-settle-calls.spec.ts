import assert from 'node:assert/strict';
import { installGate } from '../../../lab/explore/system/gate.js';
import { failsToSettle } from '../../../lab/world/facilitator/dial.js';
import type { ChainFinding } from '../../../shared/chains/check/finding.js';
import { openDatabase } from '../../../shared/db/knex.js';
import { Payment } from '../../../shared/payments/model.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import { takeToSettle } from '../../../shared/settlement/take-work.js';
import { confirmPayment } from '../../../workers/jobs/confirm-payment.js';
import { settlePayment } from '../../../workers/jobs/settle-payment.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';
import { openMoneyFlow } from '../../support/money-flow.js';

describe('a payment whose call of /settle the rate limiter postpones', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('postponed', { environment: { SETTLE_WAIT_MS: '0' }, worker: false }),
  );
  afterEach(resetClock);

  /** Claims a payment and opens a worker whose facilitator client postpones every call until `makeRoom`. */
  async function claim() {
    const { id } = await flow.buildSession();
    assert.equal(answerOf(await flow.pay(id)), '202 processing');
    const manualWorker = flow.openManualWorker();
    const { facilitators } = manualWorker.deps;
    let isFull = true;
    manualWorker.deps.facilitators = {
      ...facilitators,
      settleBy: async (...call) =>
        isFull ? { kind: 'postponed', why: 'full', forMs: 60_000 } : await facilitators.settleBy(...call),
    };
    const payment = await flow.onlyPayment(id);
    return {
      id,
      next: () => manualWorker.doNext(payment.id),
      makeRoom: () => {
        isFull = false;
      },
    };
  }

  it('is tried again more often than a refused one, and does not count as sent', async () => {
    const { id, next, makeRoom } = await claim();
    for (let turn = 0; turn < 4; turn += 1) await next();
    const { status, stage, settleCalls, settleUnclear } = await flow.onlyPayment(id);
    assert.deepEqual([status, stage, settleCalls, settleUnclear], ['processing', 'settle', 0, false]);
    makeRoom();
    await next();
    assert.equal((await flow.session(id)).status, 'complete');
    assert.equal((await flow.onlyPayment(id)).settleCalls, 1);
    await flow.assertBooks();
  });

  it('fails when the time to send it has passed, and its session is open again', async () => {
    const { id, next } = await claim();
    const calls = flow.facilitator.calls.settle.length;
    for (let turn = 0; turn < 20 && (await flow.session(id)).status === 'processing'; turn += 1) await next();
    const { status, failureCode } = await flow.onlyPayment(id);
    assert.deepEqual([status, failureCode], ['failed', 'payment_service_unavailable']);
    assert.equal((await flow.session(id)).status, 'open');
    assert.equal(flow.facilitator.calls.settle.length, calls);
    await flow.assertBooks();
  });

  describe('and is written twice, because the answer to its COMMIT was lost,', () => {
    const worker = forAllTests(() => flow.openManualWorker());
    afterEach(() => flow.facilitator.settle.honest());

    const row = (id: string): PromiseLike<Payment> => Payment.query(flow.db).findById(id).throwIfNotFound();

    async function untilDue(id: string): Promise<void> {
      const { dueAt } = await row(id);
      advanceClock(Math.max(0, (dueAt?.getTime() ?? 0) - nowMs() + 1));
    }

    /** The first call is postponed; the decision is written, and the connection breaks before Postgres' answer. */
    async function postpone(): Promise<string> {
      const { id: sessionId } = await flow.buildSession();
      assert.equal((await flow.pay(sessionId)).status, 202);
      const { id } = await flow.onlyPayment(sessionId);
      const db = openDatabase(worker.deps.config.database);
      const gate = installGate(db);
      const facilitators: typeof worker.deps.facilitators = {
        ...worker.deps.facilitators,
        settleBy: async () => {
          gate.arm();
          return { kind: 'postponed', why: 'full', forMs: 1000 };
        },
      };
      gate.begin({ crash: 'write lost but done', taken: async () => undefined });
      await untilDue(id);
      await settlePayment({ ...worker.deps, db, facilitators }, { paymentId: id });
      await db.destroy();
      return id;
    }

    it('is counted out once', async () => {
      const { settleCalls, lostTakes, stage } = await row(await postpone());
      assert.deepEqual({ settleCalls, lostTakes, stage }, { settleCalls: 0, lostTakes: 0, stage: 'settle' });
    });

    it('does not hide that the next call, in which a worker crashes, has no known outcome', async () => {
      const paymentId = await postpone();
      await untilDue(paymentId);
      assert.ok(await takeToSettle(worker.deps, paymentId)); // The worker crashes here.
      await untilDue(paymentId);
      // The crashed call's transaction is not in a block yet.
      const unused: ChainFinding = {
        kind: 'unused',
        chainTime: new Date(nowMs() + 60_000),
        exhausted: false,
      };
      const chains = { check: async () => unused, close: () => undefined };
      await confirmPayment({ ...worker.deps, chains }, { paymentId });
      await untilDue(paymentId);
      flow.facilitator.settle.next(failsToSettle('kyt_risk_detected'));
      await settlePayment(worker.deps, { paymentId });
      const { status, failureCode, settleUnclear } = await row(paymentId);
      assert.deepEqual(
        { status, failureCode, settleUnclear },
        { status: 'processing', failureCode: null, settleUnclear: true },
      );
    });
  });
});
