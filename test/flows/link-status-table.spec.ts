import assert from 'node:assert/strict';
import type { Response } from 'supertest';
import { answers, failsToSettle, refuses } from '../../lab/world/facilitator/dial.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { buildPaidSession } from '../../lab/world/shop/factories.js';
import { advanceClock, resetClock } from '../../shared/process/clock.js';
import { newId } from '../../shared/values/ids.js';
import { type Checkout, openCheckout, type SignedPayment } from '../support/checkout.js';
import { type CheckoutPair, openCheckoutPair } from '../support/checkout-pair.js';
import { answerOf } from '../support/link-answers.js';
import { OPEN, PAID, recordOf } from '../support/link-record.js';

/** The table of statuses in the specification and the contract, row by row. */
describe('the status of a link’s answer', () => {
  let both: CheckoutPair;
  let checkout: Checkout;
  let noWait: Checkout;
  let id: string;
  let payment: SignedPayment;

  before(async () => {
    both = await openCheckoutPair();
    ({ checkout, noWait } = both);
  });
  beforeEach(async () => {
    ({ id } = await checkout.buildSession());
    payment = await checkout.sign(id);
  });
  afterEach(() => both.reset());
  after(() => both.close());

  const pay = async (link = id, accept = 'application/json'): Promise<Response> =>
    await checkout.visit(link, { Accept: accept, 'PAYMENT-SIGNATURE': payment.header });

  it('200: paid, to the paying request, to later GETs and POSTs, and as a page', async () => {
    const paid = { ...PAID, answer: '200 complete' };
    const res = await pay();
    assert.deepEqual(await recordOf(checkout, id, res, payment), paid);
    for (const method of ['get', 'post'] as const) {
      const later = await checkout.send(method, id);
      assert.equal(later.text, res.text);
      assert.deepEqual(await recordOf(checkout, id, later, payment), paid);
    }
    const page = await checkout.visit(id, { Accept: 'text/html' });
    assert.deepEqual(await recordOf(checkout, id, page, payment), { ...PAID, answer: '200 page' });
  });

  it('202: not confirmed yet, to the paying request and to GETs, until it is 200', async () => {
    const hold = checkout.facilitator.settle.holdNext();
    const res = await noWait.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
    const processing = {
      ...OPEN,
      answer: '202 processing',
      retryAfter: true,
      session: 'processing',
      payments: ['processing'],
      verify: 1,
    };
    const { settle: _, ...record } = await recordOf(checkout, id, res, payment);
    const { settle: __, ...expected } = processing;
    assert.deepEqual(record, expected);
    await eventually(() => assert.equal(checkout.calls(payment).settle, 1));
    const waiting = await checkout.visit(id);
    assert.equal(answerOf(waiting), '202 processing');
    assert.equal(waiting.get('Retry-After'), '2');
    hold.release();
    await checkout.becomes(id, {
      session: 'complete',
      payments: ['succeeded'],
      events: ['checkout.session.completed'],
    });
    const done = await checkout.visit(id);
    assert.deepEqual(await recordOf(checkout, id, done, payment), { ...PAID, answer: '200 complete' });
  });

  it('400: the header is not a payment', async () => {
    for (const name of ['PAYMENT-SIGNATURE', 'X-PAYMENT']) {
      const res = await checkout.visit(id, { [name]: 'bm8gcGF5bWVudA==' });
      const record = await recordOf(checkout, id, res, payment);
      assert.deepEqual(record, { ...OPEN, answer: '400 invalid_payment_payload' });
    }
  });

  it('402: payment required', async () => {
    assert.deepEqual(await recordOf(checkout, id, await checkout.visit(id), payment), {
      ...OPEN,
      answer: '402',
    });
  });

  it('402: the payment was refused by /verify', async () => {
    checkout.facilitator.verify.next(refuses('insufficient_funds'));
    const record = await recordOf(checkout, id, await pay(), payment);
    assert.deepEqual(record, { ...OPEN, answer: '402 insufficient_funds', verify: 1 });
  });

  it('402: the payment certainly failed in /settle', async () => {
    checkout.facilitator.settle.next(failsToSettle('kyt_risk_detected'));
    assert.deepEqual(await recordOf(checkout, id, await pay(), payment), {
      ...OPEN,
      answer: '402 kyt_risk_detected',
      receipt: 'kyt_risk_detected',
      payments: ['failed kyt_risk_detected'],
      verify: 1,
      settle: 1,
    });
  });

  it('404: no session has this id', async () => {
    const calls = checkout.facilitator.calls.verify.length;
    assert.equal(answerOf(await pay(newId('cs_test_'))), '404 resource_missing');
    assert.equal(answerOf(await pay(newId('cs_test_'), 'text/html')), '404 page');
    assert.equal(checkout.facilitator.calls.verify.length, calls);
  });

  it('409: another payment is in progress', async () => {
    const other = await checkout.sign(id);
    const hold = checkout.facilitator.settle.holdNext();
    assert.equal(answerOf(await noWait.visit(id, { 'PAYMENT-SIGNATURE': other.header })), '202 processing');
    assert.deepEqual(await recordOf(checkout, id, await pay(), payment), {
      ...OPEN,
      answer: '409 processing',
      retryAfter: true,
      session: 'processing',
      payments: ['processing'],
    });
    hold.release();
  });

  it('409: the session is paid already', async () => {
    const { session } = await buildPaidSession(checkout.app.db, checkout.merchant.accountId);
    const record = await recordOf(checkout, session.id, await pay(session.id), payment);
    assert.deepEqual(record, {
      ...PAID,
      answer: '409 session_already_paid',
      retryAfter: true,
      receipt: undefined,
      events: [],
      verify: 0,
      settle: 0,
    });
  });

  it('409: the signature was used before', async () => {
    assert.equal(answerOf(await pay()), '200 complete');
    const { id: other } = await checkout.buildSession();
    const record = await recordOf(checkout, other, await pay(other), payment);
    assert.deepEqual(record, {
      ...OPEN,
      answer: '409 signature_already_used',
      retryAfter: true,
      verify: 1,
      settle: 1,
    });
  });

  it('410: the session expired', async () => {
    const { id: gone } = await checkout.buildSession({ status: 'expired' });
    for (const res of [await checkout.visit(gone), await pay(gone)]) {
      const record = await recordOf(checkout, gone, res, payment);
      assert.deepEqual(record, { ...OPEN, answer: '410 session_expired', session: 'expired' });
    }
  });

  it('429: too many requests from this address', async () => {
    const { facilitator } = checkout;
    const environment = { RATE_LIMIT_LINK_PER_MINUTE: '1', TRUST_PROXY: '1' };
    const limited = await openCheckout({ facilitator, worker: false, environment });
    const from = { 'X-Forwarded-For': '203.0.113.77' };
    assert.equal(answerOf(await limited.visit(id, from)), '402');
    const res = await limited.visit(id, { ...from, 'PAYMENT-SIGNATURE': payment.header });
    assert.deepEqual(await recordOf(checkout, id, res, payment), {
      ...OPEN,
      answer: '429 rate_limit',
      retryAfter: true,
    });
    await limited.app.close();
  });

  it('503: no payment can be offered', async () => {
    const { id: live } = await checkout.buildSession({ livemode: true });
    checkout.facilitator.supported.always(answers(200, { kinds: [] }));
    const nothing = await openCheckout({ facilitator: checkout.facilitator, worker: false });
    const res = await nothing.visit(live, { 'PAYMENT-SIGNATURE': payment.header });
    checkout.facilitator.supported.honest();
    assert.deepEqual(await recordOf(checkout, live, res, payment), {
      ...OPEN,
      answer: '503 payments_unavailable',
      retryAfter: true,
    });
    await nothing.app.close();
  });

  it('503: the facilitator is busy during /verify; the same signature pays later', async () => {
    checkout.facilitator.verify.next(answers(503, 'busy'));
    assert.deepEqual(await recordOf(checkout, id, await pay(), payment), {
      ...OPEN,
      answer: '503 payment_service_unavailable',
      retryAfter: true,
      verify: 1,
    });
    assert.equal(answerOf(await pay()), '200 complete');
  });

  it('503: the facilitator turns /settle away; the same signature pays later', async () => {
    checkout.facilitator.settle.next(answers(429));
    const paying = pay();
    await checkout.afterSettling(id);
    // /settle is not called again in the authorization's last ten seconds.
    advanceClock(293_000);
    await checkout.enqueueDueWork(id);
    const res = await paying;
    resetClock();
    assert.deepEqual(await recordOf(checkout, id, res, payment), {
      ...OPEN,
      answer: '503 payment_service_unavailable',
      retryAfter: true,
      payments: ['failed payment_service_unavailable'],
      verify: 1,
      settle: 1,
    });
    assert.equal(answerOf(await pay()), '200 complete');
  });
});
