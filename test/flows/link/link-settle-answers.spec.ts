import assert from 'node:assert/strict';
import { altered, answers, type Behaviour, failsToSettle } from '../../../lab/world/facilitator/dial.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import {
  BUYER,
  type Checkout,
  FAILED,
  openCheckout,
  openCheckoutOnChain,
  PAID,
} from '../../support/checkout.js';
import { forAllTests, forEachTest } from '../../support/hooks.js';
import { answerOf, receiptOf } from '../../support/link-answers.js';

/** Makes the retries of /settle due at once. */
async function skipPauses(checkout: Checkout, id: string, tries: number): Promise<void> {
  for (let tried = 1; tried < tries; tried += 1) {
    await eventually(async () => {
      const { settleCalls, settleEndedAt } = await checkout.payment(id);
      assert.equal(settleCalls === tried && settleEndedAt !== null, true);
    });
    advanceClock(2000);
    await checkout.enqueueDueWork(id);
  }
}

/** test/unit/x402/settle-answer.spec.ts has every answer. */
describe('a clear answer of /settle', () => {
  const checkout = forAllTests(openCheckout);
  const session = forEachTest(() => checkout.buildSession());
  afterEach(() => checkout.facilitator.settle.honest());

  describe('completes the session:', () => {
    it('with null for payer and network, and status 402', async () => {
      checkout.facilitator.settle.next(altered({ payer: null, network: null }, 402));
      const payment = await checkout.sign(session.id);
      const res = await checkout.visit(session.id, { 'PAYMENT-SIGNATURE': payment.header });
      assert.equal(answerOf(res), '200 complete');
      assert.deepEqual(receiptOf(res), {
        success: true,
        transaction: checkout.facilitator.ledger.at(-1)?.transaction,
        network: 'eip155:84532',
        payer: BUYER.address,
      });
      assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
      assert.deepEqual(await checkout.state(session.id), PAID);
    });

    it('with any transaction that is a non-empty string', async () => {
      for (const transaction of ['x', 'pending-0001', `0x${'ab'.repeat(32)}`, 'é', '1'.repeat(400)]) {
        checkout.facilitator.settle.next(altered({ transaction }));
        const { id } = await checkout.buildSession();
        const res = await checkout.pay(id);
        assert.equal(answerOf(res), '200 complete');
        assert.equal(receiptOf(res)?.transaction, transaction);
        assert.equal(res.body.session.payment.transaction, transaction);
      }
    });
  });

  describe('fails the payment at once with', () => {
    async function assertFails(behaviour: Behaviour, code: string): Promise<void> {
      const { id } = await checkout.buildSession();
      checkout.facilitator.settle.next(behaviour);
      const payment = await checkout.sign(id);
      const res = await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
      assert.equal(answerOf(res), `402 ${code}`);
      assert.deepEqual(receiptOf(res), {
        success: false,
        errorReason: code,
        transaction: '',
        network: 'eip155:84532',
        payer: BUYER.address,
      });
      assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
      assert.deepEqual(await checkout.state(id), FAILED);
      const [failed] = await checkout.payments(id);
      assert.equal(failed?.failureCode, code);
      // The failure is for the paying request only: a later GET gets the plain offer.
      assert.equal(answerOf(await checkout.visit(id)), '402');
    }

    it('the specification’s code for the code of a newer facilitator', async () => {
      await assertFails(failsToSettle('invalid_exact_evm_scheme'), 'invalid_scheme');
      await assertFails(failsToSettle('invalid_exact_evm_signature'), 'invalid_exact_evm_payload_signature');
    });

    it("a facilitator's own code as it is", async () => {
      await assertFails(failsToSettle('kyt_risk_detected'), 'kyt_risk_detected');
    });
  });
});

describe('a call of /settle that exceeds its timeout', () => {
  const checkout = forAllTests(() =>
    openCheckoutOnChain({ SETTLE_WAIT_MS: '0', FACILITATOR_SETTLE_TIMEOUT_MS: '300' }),
  );
  afterEach(resetClock);

  it('is 202, then 200 when the money moved all the same', async () => {
    const { id } = await checkout.buildSession();
    const payment = await checkout.sign(id);
    const hold = checkout.facilitator.settle.holdNext();
    const res = await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
    assert.equal(answerOf(res), '202 processing');
    await checkout.afterSettling(id);
    hold.release();
    await checkout.becomes(id, PAID);
    assert.equal(answerOf(await checkout.visit(id)), '200 complete');
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
  });

  it('is not repeated before its timeout and 30 s more, while it may still be carried out', async () => {
    const { id } = await checkout.buildSession();
    const payment = await checkout.sign(id);
    const hold = checkout.facilitator.settle.holdNext();
    await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
    await checkout.afterSettling(id);
    checkout.chain.travel(2);
    checkout.chain.mine();
    const { stage } = await checkout.afterNextCheck(id);
    hold.release();
    await checkout.becomes(id, PAID);
    assert.equal(stage, 'confirm');
    assert.equal(checkout.calls(payment).settle, 1);
  });
});

describe('a call of /settle that was certainly not processed', () => {
  const checkout = forAllTests(openCheckout);
  afterEach(() => {
    resetClock();
    checkout.facilitator.settle.honest();
  });

  const send = (id: string, header: string): Promise<string> =>
    checkout.visit(id, { 'PAYMENT-SIGNATURE': header }).then(answerOf);

  it('is repeated', async () => {
    const { id } = await checkout.buildSession();
    const payment = await checkout.sign(id);
    checkout.facilitator.settle.next(answers(401));
    const [answer] = await Promise.all([send(id, payment.header), skipPauses(checkout, id, 2)]);
    assert.equal(answer, '200 complete');
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 2 });
    assert.deepEqual(await checkout.state(id), PAID);
  });

  it('three times (401, 403, 429) is 503; the same payload may pay the same session later, and no other', async () => {
    const { id } = await checkout.buildSession();
    const payment = await checkout.sign(id);
    checkout.facilitator.settle.next(answers(401), answers(403), answers(429));
    const [answer] = await Promise.all([send(id, payment.header), skipPauses(checkout, id, 3)]);
    assert.equal(answer, '503 payment_service_unavailable');
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 3 });
    assert.deepEqual(await checkout.state(id), FAILED);
    assert.equal(answerOf(await checkout.visit(id)), '402');

    const { id: other } = await checkout.buildSession();
    assert.equal(await send(other, payment.header), '409 signature_already_used');
    assert.equal(await send(id, payment.header), '200 complete');
    assert.deepEqual(checkout.calls(payment), { verify: 2, settle: 4 });
    assert.deepEqual(await checkout.state(id), {
      session: 'complete',
      payments: ['failed', 'succeeded'],
      events: ['checkout.session.completed'],
    });
    assert.equal(await send(id, payment.header), '409 session_already_paid');
    assert.equal(await send(other, payment.header), '409 signature_already_used');
  });

  it("is not repeated in the last ten seconds of the authorization's validity", async () => {
    const { id } = await checkout.buildSession();
    const validBefore = BigInt(Math.floor(nowMs() / 1000) + 9);
    const payment = await checkout.sign(id, { validBefore });
    checkout.facilitator.settle.always(answers(401));
    assert.equal(await send(id, payment.header), '503 payment_service_unavailable');
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
  });

  it('is not repeated in those ten seconds by a worker that is late', async () => {
    const { id } = await checkout.buildSession();
    const payment = await checkout.sign(id);
    checkout.facilitator.settle.always(answers(401));
    const paying = send(id, payment.header);
    await checkout.afterSettling(id);
    advanceClock(293_000);
    await checkout.enqueueDueWork(id);
    assert.equal(await paying, '503 payment_service_unavailable');
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
  });
});

describe('a facilitator that cannot be reached to settle', () => {
  afterEach(resetClock);

  for (const [title, url] of [
    ['because the connection is refused', 'http://127.0.0.1:1'],
    ['because its name does not resolve', 'http://facilitator.invalid'],
  ] as const) {
    it(`${title}: 503 after three tries, and the same payload pays later`, async () => {
      const checkout = await openCheckout({ worker: false });
      const cutOffWorker = await checkout.startWorker({ FACILITATOR_URL: url });
      const { id } = await checkout.buildSession();
      const { header } = await checkout.sign(id);
      const headers = { 'PAYMENT-SIGNATURE': header };
      const paying = checkout.visit(id, headers).then(answerOf);
      await skipPauses(checkout, id, 3);
      assert.equal(await paying, '503 payment_service_unavailable');
      assert.deepEqual(await checkout.state(id), FAILED);
      assert.equal((await checkout.payment(id)).settleCalls, 3);
      await cutOffWorker.close();
      await checkout.startWorker();
      assert.equal(answerOf(await checkout.visit(id, headers)), '200 complete');
      await checkout.close();
    });
  }
});
