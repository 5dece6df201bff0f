import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { answers, failsToSettle } from '../../../lab/world/facilitator/dial.js';
import { Payment } from '../../../shared/payments/model.js';
import { nowMs } from '../../../shared/process/clock.js';
import { BASE_SEPOLIA } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { describeBothKinds } from '../../support/kinds.js';
import { payAndBeDenied, send } from '../../support/late-money.js';
import { type ManualWorker, openMoneyFlow } from '../../support/money-flow.js';

describeBothKinds('a transfer that is found late', (kind) => {
  const flow = forAllTests(() => openMoneyFlow(`late_money_confirmed_${kind}`, { worker: false, kind }));
  const manualWorker = forAllTests(() => flow.openManualWorker());
  afterEach(() => flow.facilitator.settle.honest());

  describe('after the facilitator said that it settled, while confirmations are awaited', () => {
    let confirming: ManualWorker;
    before(() => {
      confirming = flow.openManualWorker({ CONFIRMATIONS_EIP155_84532: '3' });
    });

    /** The facilitator has sent the transaction, and no block contains it yet. */
    async function settleInvisibly(
      sessionId: string,
    ): Promise<{ id: string; land(): void; answer: Promise<string> }> {
      const transaction = `0x${randomBytes(32).toString('hex')}`;
      flow.facilitator.settle.next({
        works: false,
        answer: () => ({
          status: 200,
          body: { success: true, transaction, network: BASE_SEPOLIA, payer: '' },
        }),
      });
      const { id, signed, answer } = await send(flow, sessionId);
      await confirming.doNext(id);
      const { authorization } = signed.payload;
      const land = (): void => {
        const { from, to, value, nonce } = authorization;
        const transfer = { asset: signed.accepted.asset, from, payTo: to, amount: BigInt(value), nonce };
        flow.chain.movePayment(transfer, transaction);
        flow.chain.mine(3);
      };
      return { id, land, answer };
    }

    /** Checks the chain until the payment is due for `/settle` again. */
    async function checkUntilSettleIsDue(paymentId: string): Promise<void> {
      for (let checks = 0; checks < 10; checks += 1) {
        await confirming.doNext(paymentId);
        const { stage } = await Payment.query(flow.db).findById(paymentId).throwIfNotFound();
        if (stage === 'settle') return;
      }
      assert.fail('the payload never went to /settle again');
    }

    async function doAllDueWork(paymentId: string): Promise<void> {
      for (let steps = 0; steps < 30; steps += 1) {
        const { stage } = await Payment.query(flow.db).findById(paymentId).throwIfNotFound();
        if (stage === null) return;
        await confirming.doNext(paymentId);
      }
    }

    it('completes the session although later calls of /settle are turned away', async () => {
      const { id: sessionId } = await flow.buildSession();
      const { id, land, answer } = await settleInvisibly(sessionId);
      await checkUntilSettleIsDue(id);
      flow.facilitator.settle.always(answers(429));
      for (let calls = 0; calls < 2; calls += 1) await confirming.doNext(id);
      land();
      await doAllDueWork(id);
      await answer;
      const { status, failureCode } = await Payment.query(flow.db).findById(id).throwIfNotFound();
      assert.deepEqual([status, failureCode], ['succeeded', null], 'the merchant was paid');
      assert.equal((await flow.session(sessionId)).paymentId, id);
    });

    it("does not fail because of a later call's answer", async () => {
      const { id: sessionId } = await flow.buildSession();
      const { id, land, answer } = await settleInvisibly(sessionId);
      await checkUntilSettleIsDue(id);
      flow.facilitator.settle.next(failsToSettle('kyt_risk_detected'));
      await confirming.doNext(id);
      assert.equal((await flow.session(sessionId)).status, 'processing', 'a sent transaction may still land');
      land();
      await doAllDueWork(id);
      await answer;
      assert.equal((await flow.session(sessionId)).paymentId, id);
    });

    it('waits for confirmations of a late payment as well', async () => {
      const { id: sessionId } = await flow.buildSession();
      const late = await payAndBeDenied(flow, manualWorker, sessionId);
      const makeBlocks = flow.chain.endpoint.onCall;
      flow.chain.endpoint.onCall = () => {};
      await Payment.query(flow.db)
        .patch({ dueAt: new Date(nowMs() - 1) })
        .where('id', late);
      await confirming.doNext(late);
      flow.chain.endpoint.onCall = makeBlocks;
      assert.equal(
        (await flow.session(sessionId)).status,
        'open',
        'one confirmation, and three are asked for',
      );
    });
  });
});
