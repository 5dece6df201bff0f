import assert from 'node:assert/strict';
import request from 'supertest';
import { answers, refuses } from '../../../lab/world/facilitator/dial.js';
import { Payable } from '../../../shared/payables/model.js';
import { Payment } from '../../../shared/payments/model.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import { openCheckout, type SignedPayment } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { receiptOf } from '../../support/link-answers.js';
import { buildUncertainPayment } from '../../support/uncertain-payment.js';

/** A link's answers about a payment that may have been taken, to agents and to the script of its page. */
describe('a payment whose outcome stays unknown', () => {
  const checkout = forAllTests(openCheckout);
  afterEach(() => {
    resetClock();
    checkout.facilitator.verify.honest();
  });

  const NOT_AGAIN = /may have been taken.*Do not pay again before you have asked the merchant/;

  async function postFromPage(id: string, { header }: SignedPayment): Promise<object> {
    const { body } = await request(checkout.app.server)
      .post(`/c/${id}/pay`)
      .set('PAYMENT-SIGNATURE', header)
      .expect(200);
    return body;
  }

  /** A payment that was sent, and whose outcome was never found. */
  async function payUncertainly(id: string): Promise<{ signed: SignedPayment; paymentId: string }> {
    const signed = await checkout.sign(id);
    const hold = checkout.facilitator.settle.holdNext();
    const calls = checkout.facilitator.calls.settle.length;
    const answered = checkout.visit(id, { 'PAYMENT-SIGNATURE': signed.header }).then((res) => res);
    await checkout.facilitator.waitForCall('settle', calls + 1);
    const { id: paymentId } = await checkout.payment(id);
    await buildUncertainPayment(checkout, { session: await checkout.session(id), paymentId });
    const res = await answered;
    hold.release();
    assert.equal(res.status, 402);
    assert.equal(res.body.code, 'outcome_unknown');
    assert.match(res.body.error, NOT_AGAIN);
    const { success, errorReason } = receiptOf(res) ?? {};
    assert.deepEqual([success, errorReason], [false, 'outcome_unknown']);
    return { signed, paymentId };
  }

  it('is a 402 and a receipt that say so, to the payment and to every later GET', async () => {
    const { id } = await checkout.buildSession();
    const { paymentId } = await payUncertainly(id);
    advanceClock(3_000_000);
    const res = await checkout.visit(id);
    assert.equal(res.body.code, 'outcome_unknown');
    assert.match(res.body.error, NOT_AGAIN);
    assert.ok(res.body.error.includes(paymentId));
  });

  it('is named to its own signature, at the link and on the page, also after a payment that failed for certain', async () => {
    const { id } = await checkout.buildSession();
    const { signed, paymentId } = await payUncertainly(id);
    for (const failureCode of ['outcome_unknown', 'insufficient_funds']) {
      await Payable.query(checkout.app.db).patch({ failureCode }).where({ id });
      const res = await checkout.visit(id, { 'PAYMENT-SIGNATURE': signed.header });
      assert.equal(res.body.error.code, 'signature_already_used');
      assert.match(res.body.error.message, NOT_AGAIN);
      assert.doesNotMatch(res.body.error.message, /Sign a new one/);
      const code = 'signature_already_used';
      const told = { outcome: 'failed', code, cause: 'failedSpent', uncertain: true, payment: paymentId };
      assert.deepEqual(await postFromPage(id, signed), told);
    }
  });

  it('is named to its own signature when that has ended', async () => {
    const { id } = await checkout.buildSession();
    const { signed, paymentId } = await payUncertainly(id);
    advanceClock(1_200_000);
    const told = {
      outcome: 'failed',
      code: 'outcome_unknown',
      cause: 'failedOther',
      uncertain: true,
      payment: paymentId,
    };
    assert.deepEqual(await postFromPage(id, signed), told);
  });

  it('is named to its own signature when another payment has paid the session', async () => {
    const { id } = await checkout.buildSession();
    const { signed, paymentId } = await payUncertainly(id);
    assert.equal((await checkout.pay(id)).status, 200);
    const told = { outcome: 'others', uncertain: true, payment: paymentId };
    assert.deepEqual(await postFromPage(id, signed), told);
    await Payment.query(checkout.app.db)
      .patch({ failureCode: 'insufficient_funds' })
      .where({ id: paymentId });
    assert.deepEqual(await postFromPage(id, signed), { outcome: 'others' });
  });

  it('is not laid to another signature', async () => {
    const { id } = await checkout.buildSession();
    await payUncertainly(id);
    checkout.facilitator.verify.next(refuses('kyt_risk_detected'));
    const told = { outcome: 'failed', code: 'kyt_risk_detected', cause: 'failedRefused' };
    assert.deepEqual(await postFromPage(id, await checkout.sign(id)), told);
  });

  for (const [what, status, body] of [
    ['that was not processed', 429, { error: 'busy' }],
    ['that was refused', 200, { success: false, errorReason: 'kyt_risk_detected', transaction: '' }],
  ] as const) {
    it(`is still named after another payment ${what}`, async () => {
      const { session, payment } = await buildUncertainPayment(checkout);
      checkout.facilitator.settle.always(answers(status, body));
      const other = await checkout.pay(session.id);
      checkout.facilitator.settle.honest();
      assert.notEqual(other.body.code, 'outcome_unknown');
      const res = await checkout.visit(session.id);
      assert.equal(res.body.code, 'outcome_unknown');
      assert.ok(res.body.error.includes(payment.id));
    });
  }

  it('is a 410 and a 503 that say so', async () => {
    const expired = await buildUncertainPayment(checkout, { status: 'expired' });
    const gone = await checkout.visit(expired.session.id);
    assert.equal(gone.status, 410);
    assert.match(gone.body.error.message, NOT_AGAIN);
    assert.ok(gone.body.error.message.includes(expired.payment.id));
    const { facilitators } = checkout.app;
    const { supported } = facilitators;
    facilitators.supported = async () => undefined;
    const open = await buildUncertainPayment(checkout);
    const busy = await checkout.visit(open.session.id);
    facilitators.supported = supported;
    assert.equal(busy.status, 503);
    assert.ok(busy.body.error.message.includes(open.payment.id));
  });

  it('is said beside the code when a refusal says used and no chain can be read', async () => {
    const { id } = await checkout.buildSession();
    checkout.facilitator.verify.next(refuses('invalid_exact_evm_nonce_already_used'));
    const told = {
      outcome: 'failed',
      code: 'invalid_transaction_state',
      cause: 'failedUsed',
      uncertain: true,
    };
    assert.deepEqual(await postFromPage(id, await checkout.sign(id)), told);
  });
});
