import assert from 'node:assert/strict';
import { raw } from 'objection';
import { answers } from '../../../lab/world/facilitator/dial.js';
import type { ChainFinding } from '../../../shared/chains/check/finding.js';
import { Payment } from '../../../shared/payments/model.js';
import { nowMs, resetClock } from '../../../shared/process/clock.js';
import { reconcileRestore } from '../../../shared/settlement/reconcile-restore.js';
import { settlePayment } from '../../../workers/jobs/settle-payment.js';
import { forAllTests } from '../../support/hooks.js';
import { openMoneyFlow } from '../../support/money-flow.js';

describe('what was recorded of a payment and is doubted later:', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('doubted_later', { worker: false, environment: { SETTLE_WAIT_MS: '0' } }),
  );
  const worker = forAllTests(() => flow.openManualWorker());
  afterEach(() => resetClock());

  async function claim(): Promise<{ sessionId: string; paymentId: string }> {
    const { id: sessionId } = await flow.buildSession();
    assert.equal((await flow.pay(sessionId)).status, 202);
    return { sessionId, paymentId: (await flow.onlyPayment(sessionId)).id };
  }

  it('a refusal in a restored copy is not told when one check sees the authorization unused', async () => {
    const { sessionId, paymentId } = await claim();
    flow.facilitator.settle.next(
      answers(200, { success: false, errorReason: 'insufficient_funds', transaction: '' }),
    );
    await worker.doNext(paymentId);
    assert.equal((await flow.onlyPayment(sessionId)).failureCode, 'insufficient_funds');
    // The copy lacks a later call, whose transaction is not in a block yet.
    await reconcileRestore(flow.db);
    const { chains } = worker.deps;
    const unused = (): ChainFinding => ({
      kind: 'unused',
      chainTime: new Date(nowMs() + 120_000),
      exhausted: false,
    });
    worker.deps.chains = { check: async () => unused(), close: () => undefined };
    await worker.doNext(paymentId);
    worker.deps.chains = chains;
    const { status, failureCode } = await flow.onlyPayment(sessionId);
    assert.deepEqual({ status, failureCode }, { status: 'processing', failureCode: null });
  });

  it('a failure that nobody watches any more is checked again when the facilitator says that it has settled', async () => {
    const { sessionId, paymentId } = await claim();
    const { facilitators } = worker.deps;
    const settleBy: typeof facilitators.settleBy = async (...call) => {
      const answer = await facilitators.settleBy(...call);
      // The worker stood still; others have failed the payment meanwhile, and ended the watch on one endpoint's word.
      const failed = {
        status: 'failed',
        failureCode: 'unexpected_settle_error',
        failedAt: new Date(nowMs()),
      };
      await Payment.query(flow.db)
        .patch({ ...failed, attempt: raw('attempt + 2'), stage: null, dueAt: null } as never)
        .where('id', paymentId);
      return answer;
    };
    await settlePayment({ ...worker.deps, facilitators: { ...facilitators, settleBy } }, { paymentId });
    const { stage, dueAt } = await flow.onlyPayment(sessionId);
    assert.equal(stage, 'watch');
    assert.ok(dueAt !== null && dueAt.getTime() <= nowMs());
  });
});
