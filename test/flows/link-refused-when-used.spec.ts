import assert from 'node:assert/strict';
import type { EvmChain } from '../../lab/world/chains/evm-chain.js';
import { altered, failsToSettle } from '../../lab/world/facilitator/dial.js';
import { Payment } from '../../shared/payments/model.js';
import { resetClock } from '../../shared/process/clock.js';
import { type Checkout, openCheckoutOnChain } from '../support/checkout.js';
import { answerOf } from '../support/link-answers.js';

/** Failure codes that facilitators also report for an authorization that has been used. */
const IF_USED_TOO = [
  'invalid_transaction_state',
  'unexpected_settle_error',
  'unexpected_verify_error',
  'invalid_nonce',
];
const PAID = { session: 'complete', payments: ['succeeded'], events: ['checkout.session.completed'] };
const FAILED = { session: 'open', payments: ['failed'], events: [] };

/** A refusal, put in place of the success of a call that has moved the money. */
function refused(errorReason: string): Record<string, unknown> {
  return { success: false, errorReason, transaction: '' };
}

describe('a refusal of /settle with a code that a used authorization gets too', () => {
  let checkout: Checkout & { chain: EvmChain };
  before(async () => {
    checkout = await openCheckoutOnChain();
  });
  afterEach(() => {
    checkout.facilitator.settle.honest();
    checkout.chain.endpoint.recover();
    checkout.chain.endpoint.calls.clear();
    resetClock();
  });
  after(() => checkout.close());

  for (const reason of IF_USED_TOO) {
    it(`${reason}: 402 at once when the chain says that the authorization is unused`, async () => {
      const { id } = await checkout.buildSession();
      checkout.facilitator.settle.next(failsToSettle(reason));
      assert.equal(answerOf(await checkout.pay(id)), `402 ${reason}`);
      assert.deepEqual(await checkout.state(id), FAILED);
      assert.equal(checkout.chain.endpoint.callsOf('eth_call'), 1, 'one read of the chain');
    });

    it(`${reason}: 200 when the chain says that the authorization was used`, async () => {
      const { id } = await checkout.buildSession();
      checkout.facilitator.settle.next(altered(refused(reason)));
      assert.equal(answerOf(await checkout.pay(id)), '200 complete');
      assert.deepEqual(await checkout.state(id), PAID);
    });
  }

  for (const fault of ['hang', 'http_500', 'cut'] as const) {
    it(`is 402 when the chain cannot be read: ${fault}`, async () => {
      const { id } = await checkout.buildSession();
      checkout.facilitator.settle.next(failsToSettle('invalid_transaction_state'));
      checkout.chain.endpoint.fail(fault);
      assert.equal(answerOf(await checkout.pay(id)), '402 invalid_transaction_state');
      assert.deepEqual(await checkout.state(id), FAILED);
      const { stage } = await checkout.payment(id);
      assert.equal(stage, 'watch');
    });
  }

  it('is answered only once the read of the chain is complete', async () => {
    const { id } = await checkout.buildSession();
    checkout.facilitator.settle.next(altered(refused('unexpected_settle_error')));
    checkout.chain.endpoint.fail('hang', 'eth_getLogs');
    const answer = checkout.pay(id).then(answerOf);
    await checkout.chain.endpoint.someoneWaits();
    checkout.chain.endpoint.recover();
    assert.equal(await answer, '200 complete');
  });

  it('is answered without a read of the chain for every other code', async () => {
    const { id } = await checkout.buildSession();
    checkout.facilitator.settle.next(failsToSettle('insufficient_funds'));
    assert.equal(answerOf(await checkout.pay(id)), '402 insufficient_funds');
    assert.equal(checkout.chain.endpoint.callsOf('eth_call'), 0);
  });

  it('is 402 when the authorization was used without paying, as the chain proves', async () => {
    const { id } = await checkout.buildSession();
    const signed = await checkout.sign(id);
    const { from, nonce } = signed.payload.authorization;
    checkout.facilitator.settle.next(failsToSettle('invalid_transaction_state'));
    checkout.chain.cancelAuthorization({ asset: signed.accepted.asset, from, nonce });
    const answer = await checkout.visit(id, { 'PAYMENT-SIGNATURE': signed.header });
    assert.equal(answerOf(answer), '402 invalid_transaction_state');
    assert.deepEqual((await checkout.payment(id)).history.at(-1)?.source, 'chain');
  });

  it('does not fail a payment whose mark before /settle was lost: money moved, and the next call is refused', async () => {
    const { id } = await checkout.buildSession();
    const signed = await checkout.sign(id);
    const settled = checkout.facilitator.settle.holdNext();
    const paying = checkout.visit(id, { 'PAYMENT-SIGNATURE': signed.header }).then(answerOf);
    const calls = checkout.facilitator.calls.settle.length;
    const call = await checkout.facilitator.waitForCall('settle', calls + 1);
    // The state after a failover to a Postgres that lacks the last commits, with a crashed worker.
    await Payment.query(checkout.app.db)
      .patch({ stage: 'settle', dueAt: new Date(0), attempt: 7, settleCalls: 0, settleAskedAt: null })
      .where({ payableId: id });
    settled.release();
    await call.done;
    checkout.facilitator.settle.next(failsToSettle('invalid_transaction_state'));
    await checkout.enqueueDueWork(id);
    assert.equal(await paying, '200 complete');
    assert.deepEqual(await checkout.state(id), PAID);
    assert.equal(checkout.calls(signed).settle, 2);
  });
});
