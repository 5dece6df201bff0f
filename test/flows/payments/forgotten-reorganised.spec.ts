import assert from 'node:assert/strict';
import type { Hex } from 'viem';
import { failsToSettle, refuses } from '../../../lab/world/facilitator/dial.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';
import { openMoneyFlow } from '../../support/money-flow.js';

describe('a forgotten payment whose block is replaced after the chain has shown it', () => {
  const flow = forAllTests(() => openMoneyFlow('forgotten_reorganised', { worker: false }));
  const manualWorker = forAllTests(() => flow.openManualWorker());

  it('is not failed by a later refusal: its transaction may come again', async () => {
    const { id } = await flow.buildSession();
    const { header, accepted, payload } = await flow.sign(id);
    const { from, to: payTo, value, nonce } = payload.authorization;
    const transfer = { asset: accepted.asset, from, payTo, amount: BigInt(value), nonce };
    const transaction = flow.chain.movePayment(transfer);
    flow.facilitator.verify.next(refuses('invalid_transaction_state'));
    const answer = flow.visit(id, { 'PAYMENT-SIGNATURE': header }).then(answerOf);
    const paymentId = await eventually(async () => {
      const { status, paymentId: claimed } = await flow.session(id);
      assert.equal(status, 'processing');
      return claimed ?? '';
    });
    flow.chain.reorganise(transaction as Hex, 'dropped');
    flow.chain.travel(120);
    flow.chain.mine();
    flow.facilitator.settle.next(failsToSettle('kyt_risk_detected'));
    await manualWorker.doNext(paymentId);
    assert.equal((await flow.payment(id)).stage, 'settle');
    await manualWorker.doNext(paymentId);
    assert.equal((await flow.payment(id)).status, 'processing');
    flow.chain.movePayment(transfer);
    await manualWorker.doNext(paymentId);
    assert.equal((await flow.payment(id)).status, 'succeeded');
    assert.match(await answer, /^20[02] /);
  });
});
