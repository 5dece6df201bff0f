import assert from 'node:assert/strict';
import { answers, breaksBeforeWork, failsToSettle } from '../../../lab/world/facilitator/dial.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import { PROCESSING } from '../../support/checkout.js';
import { forEachTest } from '../../support/hooks.js';
import { openMoneyFlow } from '../../support/money-flow.js';

const HOUR = 3_600_000;
const CALLS = 6;

describe('a payment is not failed', () => {
  const flow = forEachTest(() =>
    openMoneyFlow('chain_behind', { worker: false, environment: { SETTLE_WAIT_MS: '0' } }),
  );
  const worker = forEachTest(() => flow.openManualWorker());
  afterEach(resetClock);

  /** The chain makes blocks only as the spec says. */
  function halt(): void {
    flow.chain.endpoint.onCall = () => {};
  }

  it('after a check that saw its authorization used, by a check that asks a node that is one block behind', async () => {
    const { id } = await flow.buildSession();
    const { header, accepted, payload } = await flow.sign(id);
    await flow.visit(id, { 'PAYMENT-SIGNATURE': header });
    const { id: paymentId } = await flow.onlyPayment(id);
    // The facilitator has sent the transaction, and meets it when it simulates another one.
    const errorReason = 'invalid_transaction_state';
    flow.facilitator.settle.next(answers(200, { success: false, transaction: '', errorReason }));
    await worker.doNext(paymentId);
    halt();
    advanceClock(4000);
    flow.chain.mine();
    const { from, to, value, nonce } = payload.authorization;
    flow.chain.movePayment({ asset: accepted.asset, from, payTo: to, amount: BigInt(value), nonce });
    flow.chain.hidesLogs = true;
    await worker.doNext(paymentId);
    assert.notEqual((await flow.onlyPayment(id)).usedSeenAt, null);
    flow.chain.lag.set('*', 1);
    await worker.doNext(paymentId);
    assert.deepEqual(await flow.state(id), PROCESSING);
  });

  it('after a doubtful refusal, by a block from before the call of a chain whose clock is ahead of ours', async () => {
    flow.chain.travel(180);
    flow.chain.mine();
    halt();
    const { id } = await flow.buildSession();
    const { header, accepted, payload } = await flow.sign(id);
    await flow.visit(id, { 'PAYMENT-SIGNATURE': header });
    const { id: paymentId } = await flow.onlyPayment(id);
    // The facilitator has sent the transaction, and refuses its own second try.
    flow.facilitator.settle.next(failsToSettle('invalid_exact_evm_transaction_simulation_failed'));
    for (let done = 0; done < 2; done += 1) await worker.doNext(paymentId);
    assert.deepEqual(await flow.state(id), PROCESSING);
    const { from, to, value, nonce } = payload.authorization;
    flow.chain.movePayment({ asset: accepted.asset, from, payTo: to, amount: BigInt(value), nonce });
    await worker.doNext(paymentId);
    assert.equal((await flow.state(id)).session, 'complete');
  });

  it('on a chain that has stood still since a block from after the last call, with half a day left', async () => {
    const { id } = await flow.buildSession();
    const validBefore = BigInt(Math.floor((nowMs() + 12 * HOUR) / 1000));
    const { header } = await flow.sign(id, { validBefore });
    await flow.visit(id, { 'PAYMENT-SIGNATURE': header });
    const { id: paymentId } = await flow.onlyPayment(id);
    flow.facilitator.settle.always(breaksBeforeWork());
    while ((await flow.onlyPayment(id)).settleCalls < CALLS) await worker.doNext(paymentId);
    halt();
    advanceClock(65_000);
    flow.chain.mine();
    const until = nowMs() + HOUR;
    while (nowMs() < until) await worker.doNext(paymentId);
    assert.deepEqual(await flow.state(id), PROCESSING);
  });
});
