import assert from 'node:assert/strict';
import { breaksBeforeWork } from '../../../lab/world/facilitator/dial.js';
import { forAllTests } from '../../support/hooks.js';
import { openMoneyFlow } from '../../support/money-flow.js';

/** The chain mines a block whenever it is read: so many are more than the checks of a story make. */
const CONFIRMATIONS = 100;

describe('a cancelled authorization whose block is replaced by one that uses it to pay', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('replaced_cancellation', {
      worker: false,
      environment: { SETTLE_WAIT_MS: '0', CONFIRMATIONS_EIP155_84532: String(CONFIRMATIONS) },
    }),
  );
  const worker = forAllTests(() => flow.openManualWorker());

  /** Starts a payment whose call of `/settle` has broken off before the facilitator sent anything. */
  async function startUnclearPayment() {
    const { id } = await flow.buildSession();
    const { header, accepted, payload } = await flow.sign(id);
    const { from, to: payTo, value, nonce } = payload.authorization;
    const transfer = { asset: accepted.asset, from, payTo, amount: BigInt(value), nonce };
    flow.facilitator.settle.next(breaksBeforeWork());
    await flow.visit(id, { 'PAYMENT-SIGNATURE': header });
    const { id: paymentId } = await flow.onlyPayment(id);
    await worker.doNext(paymentId);
    return { id, paymentId, transfer };
  }

  it('is paid, and its session was not open to a second payment meanwhile', async () => {
    const { id, paymentId, transfer } = await startUnclearPayment();
    const cancellation = flow.chain.cancelAuthorization(transfer);
    for (let check = 0; check < 3; check += 1) await worker.doNext(paymentId);
    assert.equal((await flow.session(id)).status, 'processing');
    flow.chain.reorganise(cancellation, 'dropped');
    flow.chain.movePayment(transfer);
    flow.chain.mine(CONFIRMATIONS);
    await worker.doNext(paymentId);
    assert.equal((await flow.session(id)).status, 'complete');
    assert.equal((await flow.onlyPayment(id)).status, 'succeeded');
  });

  it('fails once the cancellation has its confirmations', async () => {
    const { id, paymentId, transfer } = await startUnclearPayment();
    flow.chain.cancelAuthorization(transfer);
    flow.chain.mine(CONFIRMATIONS);
    await worker.doNext(paymentId);
    assert.equal((await flow.session(id)).status, 'open');
    assert.equal((await flow.onlyPayment(id)).failureCode, 'invalid_transaction_state');
  });
});
