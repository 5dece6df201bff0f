import assert from 'node:assert/strict';
import { altered, answers, type Behaviour, failsToSettle } from '../../../lab/world/facilitator/dial.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { Payment } from '../../../shared/payments/model.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import { FAILED, openCheckoutOnChain, PAID, PROCESSING } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';

/** A word of each meaning; test/unit/x402/ has every word in `settle-error-codes` and `settle-answer-unknown`. */
const MAY_MEAN_USED = ['insufficient_funds', 'invalid_exact_evm_transaction_simulation_failed'];
const UNCLEAR = ['invalid_exact_evm_failed_to_get_receipt', 'a_word_of_tomorrow'];

/** A refusal, put in place of the success of a call that has moved the money. */
function refused(errorReason: string): Record<string, unknown> {
  return { success: false, errorReason, transaction: '' };
}

describe('a refusal of /settle that is not certain', () => {
  const checkout = forAllTests(openCheckoutOnChain);
  beforeEach(() => {
    // Blocks go on while the chain is read.
    checkout.chain.endpoint.onCall = (method) => {
      if (method === 'eth_getBlockByNumber') checkout.chain.mine();
    };
  });
  afterEach(() => {
    checkout.facilitator.settle.honest();
    checkout.facilitator.verify.honest();
    checkout.chain.endpoint.recover();
    resetClock();
  });

  /** Pays a new session, whose first call of /settle behaves like this. */
  async function payBy(behaviour: Behaviour) {
    const { id } = await checkout.buildSession();
    const signed = await checkout.sign(id);
    checkout.facilitator.settle.next(behaviour);
    const answer = answerOf(await checkout.visit(id, { 'PAYMENT-SIGNATURE': signed.header }));
    return { id, answer, calls: checkout.calls(signed) };
  }

  for (const reason of [...MAY_MEAN_USED, ...UNCLEAR]) {
    it(`${reason}: 200 when the money has moved`, async () => {
      const { id, answer, calls } = await payBy(altered(refused(reason)));
      assert.deepEqual([answer, calls], ['200 complete', { verify: 1, settle: 1 }]);
      assert.deepEqual(await checkout.state(id), PAID);
    });
  }

  for (const reason of MAY_MEAN_USED) {
    it(`${reason}: 402 once the chain has seen the authorization unused after the call`, async () => {
      const { id, answer, calls } = await payBy(failsToSettle(reason));
      assert.deepEqual([answer, calls], [`402 ${reason}`, { verify: 1, settle: 1 }]);
      assert.deepEqual(await checkout.state(id), FAILED);
      assert.deepEqual((await checkout.payment(id)).history.at(-1)?.source, 'chain');
    });
  }

  for (const reason of UNCLEAR) {
    it(`${reason}: sent to /settle again once the chain has seen the authorization unused after the call`, async () => {
      const { id, answer, calls } = await payBy(failsToSettle(reason));
      assert.deepEqual([answer, calls], ['200 complete', { verify: 1, settle: 2 }]);
      assert.deepEqual(await checkout.state(id), PAID);
    });
  }

  it('is not told by a block that is as old as the call', async () => {
    const { id } = await checkout.buildSession();
    checkout.chain.endpoint.onCall = () => {};
    checkout.facilitator.settle.next(failsToSettle('insufficient_funds'));
    const answer = checkout.pay(id).then(answerOf);
    await checkout.afterSettling(id);
    await checkout.afterNextCheck(id);
    assert.deepEqual(await checkout.state(id), PROCESSING);
    checkout.chain.travel(3);
    checkout.chain.mine();
    advanceClock(5000);
    await checkout.enqueueDueWork(id);
    assert.equal(await answer, '402 insufficient_funds');
  });

  for (const fault of ['http_429', 'cut'] as const) {
    it(`decides nothing while the chain cannot be read: ${fault}`, async () => {
      const { id } = await checkout.buildSession();
      const payment = await checkout.sign(id);
      checkout.facilitator.settle.next(failsToSettle('invalid_transaction_state'));
      checkout.facilitator.verify.next({}, answers(500), answers(500));
      checkout.chain.endpoint.fail(fault);
      const answer = checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header }).then(answerOf);
      await checkout.afterSettling(id);
      await checkout.afterNextCheck(id);
      assert.deepEqual(await checkout.state(id), PROCESSING);
      checkout.chain.endpoint.recover();
      advanceClock(5000);
      await checkout.enqueueDueWork(id);
      assert.equal(await answer, '402 invalid_transaction_state');
      assert.deepEqual(await checkout.state(id), FAILED);
      assert.equal((await checkout.payment(id)).stage, 'watch');
    });
  }

  it('is answered without a read of the chain only for a word that is said before anything is sent', async () => {
    checkout.chain.endpoint.calls.clear();
    assert.equal((await payBy(failsToSettle('kyt_risk_detected'))).answer, '402 kyt_risk_detected');
    assert.equal(checkout.chain.endpoint.callsOf('eth_call'), 0);
  });

  it('is 402 when the authorization was used without paying, as the chain proves', async () => {
    const { id } = await checkout.buildSession();
    const signed = await checkout.sign(id);
    const { from, nonce } = signed.payload.authorization;
    checkout.facilitator.settle.next(failsToSettle('unexpected_settle_error'));
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

  describe('of a success that is not this payment\u2019s', () => {
    it('is not believed when it names another payer, though no money moved', async () => {
      const { transaction } = await anotherPayment();
      const stranger = `0x${'5a'.repeat(20)}`;
      const moved = checkout.facilitator.ledger.length;
      await assertSettledItself(transaction, namesIts(transaction, stranger));
      assert.equal(checkout.facilitator.ledger.length, moved + 1);
    });

    for (const [place, by] of [
      ['in the books', 'the facilitator'],
      ['in the books', 'the chain'],
      ['in the archive', 'the facilitator'],
      ['in the archive', 'the chain'],
      ['in the books', 'the facilitator in 0.2.0'],
      ['in the archive', 'the facilitator in 0.2.0'],
    ] as const) {
      it(`is not believed when the transaction is another payment's, ${place}, named by ${by}`, async () => {
        if (by === 'the chain') checkout.facilitator.settle.next(altered(refused('unknown_error')));
        const another = await anotherPayment();
        if (by === 'the facilitator in 0.2.0') await writeAs020(another);
        if (place === 'in the archive') await archive(another);
        await assertSettledItself(another.transaction, namesIts(another.transaction));
      });
    }

    it('completes one of two sessions that are told the same transaction at once', async () => {
      const ids = [(await checkout.buildSession()).id, (await checkout.buildSession()).id];
      const transaction = `0x${'7e'.repeat(32)}`;
      const hold = checkout.facilitator.settle.holdAll(namesIts(transaction));
      const calls = checkout.facilitator.calls.settle.length;
      const paying = ids.map((id) => checkout.pay(id));
      await checkout.facilitator.waitForCall('settle', calls + 2);
      checkout.facilitator.settle.honest();
      hold.release();
      for (const res of await Promise.all(paying)) assert.equal(answerOf(res), '200 complete');
      const named = await Payment.query(checkout.app.db).where({ transaction });
      assert.equal(named.length, 1);
    });

    /** Claims success for a transaction, and does nothing. */
    const namesIts = (transaction: string, payer?: string): Behaviour =>
      answers(200, { success: true, transaction, network: '', ...(payer && { payer }) });

    /** A payment whose first call names another payment's transaction is settled by a second call. */
    async function assertSettledItself(transaction: string, behaviour: Behaviour): Promise<void> {
      const { id, answer, calls } = await payBy(behaviour);
      assert.deepEqual([answer, calls.settle], ['200 complete', 2]);
      assert.notEqual((await checkout.payment(id)).transaction, transaction);
    }

    async function anotherPayment(): Promise<{ id: string; transaction: string }> {
      const { id: sessionId } = await checkout.buildSession();
      assert.equal(answerOf(await checkout.pay(sessionId)), '200 complete');
      const { id, transaction } = await checkout.payment(sessionId);
      assert.ok(transaction !== null);
      return { id, transaction };
    }

    /** 0.2.0 writes no proof of a transaction that was only named. */
    async function writeAs020({ id }: { id: string }): Promise<void> {
      await Payment.query(checkout.app.db).patch({ proofIndex: null }).where({ id });
    }

    /** Leaves the same parts of the payment as the archive. */
    async function archive({ id, transaction }: { id: string; transaction: string }): Promise<void> {
      const { db } = checkout.app;
      const { network, payableId, payloadKey, proofIndex } = await Payment.query(db)
        .findById(id)
        .throwIfNotFound();
      const mark = {
        payment_id: id,
        payable_id: payableId,
        payload_key: payloadKey,
        payload_released: false,
      };
      await db('payment_marks').insert({ ...mark, network, transaction, proof_index: proofIndex });
      await Payment.query(db).patch({ transaction: null, proofIndex: null }).where({ id });
    }
  });

  it('completes nothing while another payment of the same wallet is looked for', async () => {
    const { id } = await checkout.buildSession();
    const other = await checkout.buildSession();
    checkout.facilitator.settle.next(failsToSettle('insufficient_funds'));
    const [first, second] = await Promise.all([checkout.pay(id), checkout.pay(other.id)]);
    assert.deepEqual([answerOf(first), answerOf(second)].sort(), ['200 complete', '402 insufficient_funds']);
    await eventually(async () => assert.equal((await checkout.payments(id)).length, 1));
  });
});
