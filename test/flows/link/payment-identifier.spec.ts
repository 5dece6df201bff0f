import assert from 'node:assert/strict';
import {
  appendPaymentIdentifierToExtensions,
  generatePaymentId,
  validatePaymentIdentifier,
} from '@x402/extensions/payment-identifier';
import type { Response } from 'supertest';
import { answers, failsToSettle } from '../../../lab/world/facilitator/dial.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { paymentHeader, v1PaymentHeader } from '../../../lab/world/shop/agent.js';
import type { SignedPayment } from '../../support/checkout.js';
import { pairForAllTests } from '../../support/checkout-pair.js';
import { answerOf } from '../../support/link-answers.js';

/** As long as an identifier may be. */
const LONGEST = 'aZ0-_'.padEnd(128, 'x');

/**
 * x402's extension `payment-identifier`: the buyer names a payment, and may send it again when an answer was lost.
 */
describe('a payment identifier', () => {
  const { checkout, noWait } = pairForAllTests();
  let id: string;
  let name: string;
  beforeEach(async () => {
    ({ id } = await checkout.buildSession());
    name = generatePaymentId();
  });

  /** Fills the link's declared extension as the stock package does. */
  async function extensionsOf(link: string, identifier: string): Promise<object> {
    const { extensions = {} } = await checkout.quote(link);
    return appendPaymentIdentifierToExtensions({ ...extensions }, identifier);
  }

  async function named(identifier = name, link = id): Promise<SignedPayment> {
    const extensions = await extensionsOf(link, identifier);
    const payment = await checkout.sign(link);
    return { ...payment, header: paymentHeader(payment.accepted, payment.payload, { extensions }) };
  }

  const send = ({ header }: { header: string }, link = id, at = checkout): Promise<Response> =>
    at.visit(link, { 'PAYMENT-SIGNATURE': header }).then((res) => res);

  const moneyMoved = (payments: readonly SignedPayment[]): number =>
    checkout.facilitator.ledger.filter(({ paymentId }) =>
      payments.some(({ payload }) => payload.authorization.nonce.toLowerCase() === paymentId),
    ).length;

  it("is declared in the stock package's form, and is not required", async () => {
    const { extensions = {} } = await checkout.quote(id);
    const declared = extensions['payment-identifier'] as { info: object };
    assert.deepEqual(validatePaymentIdentifier(declared), { valid: true });
    assert.deepEqual(declared.info, { required: false });
    assert.deepEqual(
      validatePaymentIdentifier(((await extensionsOf(id, name)) as typeof extensions)['payment-identifier']),
      {
        valid: true,
      },
    );
  });

  it('gets the same answer each time the same payment is sent, and its receipt with the page', async () => {
    const payment = await named(LONGEST);
    const first = await send(payment);
    assert.equal(answerOf(first), '200 complete');
    assert.equal((await checkout.payment(id)).identifier, LONGEST);
    for (let times = 0; times < 3; times += 1) {
      const again = await send(payment);
      assert.equal(answerOf(again), '200 complete');
      assert.equal(again.text, first.text);
      assert.equal(again.get('PAYMENT-RESPONSE'), first.get('PAYMENT-RESPONSE'));
    }
    const page = await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header, Accept: 'text/html' });
    assert.equal(answerOf(page), '200 page');
    assert.equal(page.get('PAYMENT-RESPONSE'), first.get('PAYMENT-RESPONSE'));
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
    assert.equal(moneyMoved([payment]), 1);
  });

  for (const [when, others] of Object.entries({
    'a client only echoes the declaration': undefined,
    'a payment has other extensions only': { bazaar: { info: {} } },
  })) {
    it(`is absent when ${when}`, async () => {
      const extensions = others ?? (await checkout.quote(id)).extensions;
      const { accepted, payload } = await checkout.sign(id);
      const header = paymentHeader(accepted, payload, { extensions });
      assert.equal(answerOf(await send({ header })), '200 complete');
      assert.equal((await checkout.payment(id)).identifier, null);
      const again = await send({ header });
      assert.equal(answerOf(again), '409 session_already_paid');
      assert.ok(again.get('PAYMENT-RESPONSE'));
    });
  }

  it('that differs or is missing makes a repeated payment an ordinary one: 409 with the receipt', async () => {
    const payment = await named();
    await send(payment);
    const extensions = await extensionsOf((await checkout.buildSession()).id, generatePaymentId());
    const { accepted, payload } = payment;
    for (const header of [
      paymentHeader(accepted, payload, { extensions }),
      paymentHeader(accepted, payload),
    ]) {
      const res = await send({ header });
      assert.equal(answerOf(res), '409 session_already_paid');
      assert.ok(res.get('PAYMENT-RESPONSE'));
    }
  });

  it('is not accepted for another payment, while the first is in progress or after it paid', async () => {
    const hold = checkout.facilitator.settle.holdNext();
    const [first, second] = [await named(), await named()];
    assert.equal(answerOf(await send(first, id, noWait)), '202 processing');
    assert.equal(answerOf(await send(second)), '409 processing');
    hold.release();
    await eventually(async () => assert.equal((await checkout.session(id)).status, 'complete'));
    const refused = await send(second);
    assert.equal(answerOf(refused), '409 session_already_paid');
    assert.equal(refused.get('PAYMENT-RESPONSE'), undefined);
    assert.deepEqual(checkout.calls(second), { verify: 0, settle: 0 });
    assert.equal(moneyMoved([first, second]), 1);
  });

  it('makes a repeated request wait for the outcome, like the first one', async () => {
    const payment = await named();
    const hold = checkout.facilitator.settle.holdNext();
    const first = send(payment);
    await eventually(() => assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 }));
    const again = [send(payment), send(payment)];
    hold.release();
    const [one, ...others] = await Promise.all([first, ...again]);
    assert.equal(answerOf(one), '200 complete');
    for (const other of others) assert.deepEqual([answerOf(other), other.text], ['200 complete', one.text]);
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
  });

  it('gets 202 again while the payment takes longer than the wait', async () => {
    const payment = await named();
    const hold = checkout.facilitator.settle.holdNext();
    for (let times = 0; times < 2; times += 1) {
      assert.equal(answerOf(await send(payment, id, noWait)), '202 processing');
    }
    hold.release();
    await eventually(async () => assert.equal(answerOf(await send(payment, id, noWait)), '200 complete'));
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
  });

  it('claims once when the same payment is sent eight times at once, and all get the same answer', async () => {
    const payment = await named();
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(payment)));
    assert.deepEqual(
      answers.map(answerOf),
      Array.from({ length: 8 }, () => '200 complete'),
    );
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    assert.equal(checkout.calls(payment).settle, 1);
    assert.equal((await checkout.payments(id)).length, 1);
  });

  it('claims once when six payments are sent under it at once', async () => {
    const payments = await Promise.all(Array.from({ length: 6 }, () => named()));
    const answers = (await Promise.all(payments.map((payment) => send(payment)))).map(answerOf).sort();
    assert.equal(answers[0], '200 complete');
    for (const answer of answers.slice(1)) assert.match(answer, /^409 (processing|session_already_paid)$/);
    assert.equal(moneyMoved(payments), 1);
    assert.equal((await checkout.payments(id)).length, 1);
  });

  describe('of a payment that failed', () => {
    let failed: SignedPayment;
    beforeEach(async () => {
      failed = await named();
      checkout.facilitator.settle.next(failsToSettle('kyt_risk_detected'));
    });

    it('gives that payment the same refusal again, without a call to the facilitator', async () => {
      const first = await send(failed);
      assert.equal(answerOf(first), '402 kyt_risk_detected');
      const again = await send(failed);
      assert.equal(answerOf(again), '402 kyt_risk_detected');
      assert.equal(again.text, first.text);
      assert.equal(again.get('PAYMENT-RESPONSE'), first.get('PAYMENT-RESPONSE'));
      assert.equal(checkout.calls(failed).settle, 1);
    });

    it('is refused for another payment with payment_identifier_reused; a new identifier pays', async () => {
      await send(failed);
      const other = await named();
      assert.equal(answerOf(await send(other)), '409 payment_identifier_reused');
      assert.deepEqual(await checkout.state(id), { session: 'open', payments: ['failed'], events: [] });
      const { accepted, payload } = other;
      const extensions = await extensionsOf(id, generatePaymentId());
      const renamed = paymentHeader(accepted, payload, { extensions });
      assert.equal(answerOf(await send({ header: renamed })), '200 complete');
      assert.equal(moneyMoved([failed, other]), 1);
      assert.equal(answerOf(await send(failed)), '409 session_already_paid');
    });

    it('may be used in another session', async () => {
      await send(failed);
      const { id: elsewhere } = await checkout.buildSession();
      assert.equal(answerOf(await send(await named(name, elsewhere), elsewhere)), '200 complete');
    });

    it('gets 410 once the session has expired', async () => {
      await send(failed);
      const { app } = checkout;
      await checkout.session(id).then((session) => session.$query(app.db).patch({ status: 'expired' }));
      assert.equal(answerOf(await send(failed)), '410 session_expired');
    });
  });

  for (const pays of ['the same payment', 'another payment']) {
    it(`of a payment that the facilitator never processed is free: ${pays} may be sent`, async () => {
      checkout.facilitator.settle.next(answers(401), answers(403), answers(429));
      const lost = await named();
      assert.equal(answerOf(await send(lost)), '503 payment_service_unavailable');
      const next = pays === 'the same payment' ? lost : await named();
      assert.equal(answerOf(await send(next)), '200 complete');
      assert.equal(moneyMoved([lost, next]), 1);
      assert.deepEqual((await checkout.state(id)).payments, ['failed', 'succeeded']);
    });
  }

  describe('that is malformed is refused before anything is stored or the facilitator is called:', () => {
    /** test/unit/x402/payment-identifier.spec.ts has every other form. */
    const wrong: Record<string, unknown> = {
      'fifteen characters': { info: { id: 'a'.repeat(15) } },
      'an extension that is a list': [{ info: { id: 'pay_0123456789abcdef' } }],
    };
    for (const [title, extension] of Object.entries(wrong)) {
      it(title, async () => {
        const { accepted, payload, ...rest } = await checkout.sign(id);
        const extensions = { 'payment-identifier': extension };
        const res = await send({ header: paymentHeader(accepted, payload, { extensions }) });
        assert.equal(answerOf(res), '400 invalid_payment_payload');
        assert.match(res.body.error.message, /`payment-identifier` (needs|must be)/);
        assert.deepEqual(checkout.calls({ accepted, payload, ...rest }), { verify: 0, settle: 0 });
        assert.deepEqual(await checkout.state(id), { session: 'open', payments: [], events: [] });
      });
    }
  });

  it('is not read in x402 version 1, which has no extensions', async () => {
    const { payload } = await checkout.sign(id);
    const extensions = { 'payment-identifier': { info: { id: 'short' } } };
    const header = v1PaymentHeader('base-sepolia', payload, { extensions });
    assert.equal(answerOf(await checkout.visit(id, { 'X-PAYMENT': header })), '200 complete');
  });
});
