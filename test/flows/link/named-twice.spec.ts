import assert from 'node:assert/strict';
import { answers } from '../../../lab/world/facilitator/dial.js';
import { Payment } from '../../../shared/payments/model.js';
import { BASE_SEPOLIA } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { openMoneyFlow } from '../../support/money-flow.js';

for (const confirmations of ['0', '1']) {
  describe(`a success that names another payment's transaction, with ${confirmations} confirmations,`, () => {
    const environment = { SETTLE_WAIT_MS: '0', CONFIRMATIONS_EIP155_84532: confirmations };
    const flow = forAllTests(() =>
      openMoneyFlow(`named_twice_${confirmations}`, { worker: false, environment }),
    );
    const worker = forAllTests(() => flow.openManualWorker());

    for (const by of ['this release', '0.2.0'])
      it(`is no clear answer when ${by} has written it, and the chain decides`, async () => {
        worker.log.length = 0;
        const first = await flow.buildSession();
        await flow.pay(first.id);
        const paid = await flow.onlyPayment(first.id);
        await worker.doNext(paid.id);
        if (confirmations === '1') await worker.doNext(paid.id);
        const { transaction, status } = await flow.onlyPayment(first.id);
        assert.equal(status, 'succeeded');
        if (by === '0.2.0') await Payment.query(flow.db).patch({ proofIndex: null }).where({ id: paid.id });

        const { id } = await flow.buildSession();
        await flow.pay(id);
        const { id: paymentId } = await flow.onlyPayment(id);
        flow.facilitator.settle.next(answers(200, { success: true, transaction, network: BASE_SEPOLIA }));
        await worker.doNext(paymentId);
        const { reportedTransaction, settleUnclear, status: next } = await flow.onlyPayment(id);
        assert.deepEqual([next, reportedTransaction, settleUnclear], ['processing', null, true]);
        assert.ok(worker.log.some(({ event }) => event === 'payment.proof_taken'));
      });
  });
}
