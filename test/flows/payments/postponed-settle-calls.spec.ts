import assert from 'node:assert/strict';
import { resetClock } from '../../../shared/process/clock.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';
import { openMoneyFlow } from '../../support/money-flow.js';

describe('a payment whose call of /settle the rate limiter postpones', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('postponed', { environment: { SETTLE_WAIT_MS: '0' }, worker: false }),
  );
  afterEach(() => {
    resetClock();
    return flow.assertBooks();
  });

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
  });

  it('fails when the time to send it has passed, and its session is open again', async () => {
    const { id, next } = await claim();
    const calls = flow.facilitator.calls.settle.length;
    for (let turn = 0; turn < 20 && (await flow.session(id)).status === 'processing'; turn += 1) await next();
    const { status, failureCode } = await flow.onlyPayment(id);
    assert.deepEqual([status, failureCode], ['failed', 'payment_service_unavailable']);
    assert.equal((await flow.session(id)).status, 'open');
    assert.equal(flow.facilitator.calls.settle.length, calls);
  });
});
