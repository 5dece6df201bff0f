import assert from 'node:assert/strict';
import { failsToSettle, refuses } from '../../lab/world/facilitator/dial.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { paymentHeader, v1PaymentHeader } from '../../lab/world/shop/agent.js';
import { buildPaidSession } from '../../lab/world/shop/factories.js';
import { newId } from '../../shared/values/ids.js';
import type { FacilitatorRequest } from '../../shared/x402/wire.js';
import { type Checkout, type SignedPayment, withoutHints } from '../support/checkout.js';
import { type CheckoutPair, openCheckoutPair } from '../support/checkout-pair.js';
import { answerOf, type LinkMethod } from '../support/link-answers.js';
import { type LinkRecord, OPEN, PAID, recordOf } from '../support/link-record.js';

/** One test for each of the contract's rows about payment links. */
describe('a payment link follows the contract on', () => {
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

  /** Sends a request and records its answer and effects. */
  async function visit(headers: Record<string, string>, link = id): Promise<LinkRecord> {
    return await recordOf(checkout, link.replace(/\?.*/, ''), await checkout.visit(link, headers), payment);
  }
  const pay = (link = id, header = payment.header): Promise<LinkRecord> =>
    visit({ 'PAYMENT-SIGNATURE': header }, link);

  /** Pays, claims the session, and holds /settle until it is released. */
  async function payAndHold(): Promise<{ release(): void }> {
    const hold = checkout.facilitator.settle.holdNext();
    assert.equal(answerOf(await noWait.visit(id, { 'PAYMENT-SIGNATURE': payment.header })), '202 processing');
    await eventually(() => assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 }));
    return hold;
  }

  const authorized = (change: Record<string, string>): string => {
    const authorization = { ...payment.payload.authorization, ...change };
    return paymentHeader(payment.accepted, { ...payment.payload, authorization });
  };

  it('the order of answers: 404, 400, the session’s state, and only then the payment', async () => {
    const { session } = await buildPaidSession(checkout.app.db, checkout.merchant.accountId);
    const { id: expired } = await checkout.buildSession({ status: 'expired' });
    const wrong = paymentHeader(payment.accepted, payment.payload, { x402Version: 3 });
    const asked = checkout.facilitator.calls.verify.length;
    const answers: Record<string, string[]> = {};
    for (const [name, link] of Object.entries({
      none: newId('cs_test_'),
      expired,
      paid: session.id,
      open: id,
    })) {
      answers[name] = [];
      for (const header of ['!', wrong]) {
        answers[name].push(answerOf(await checkout.visit(link, { 'PAYMENT-SIGNATURE': header })));
      }
    }
    assert.deepEqual(answers, {
      none: ['404 resource_missing', '404 resource_missing'],
      expired: ['400 invalid_payment_payload', '410 session_expired'],
      paid: ['400 invalid_payment_payload', '409 session_already_paid'],
      open: ['400 invalid_payment_payload', '402 invalid_x402_version'],
    });
    assert.equal(checkout.facilitator.calls.verify.length, asked);
  });

  it('unknown query parameters: ignored', async () => {
    assert.deepEqual(await pay(`${id}?utm_source=x&id=other`), { ...PAID, answer: '200 complete' });
  });

  it('a payment that failed in the background: reported to a later GET, without a receipt', async () => {
    const hold = checkout.facilitator.settle.holdNext(failsToSettle('kyt_risk_detected'));
    await noWait.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
    hold.release();
    await eventually(async () => assert.equal((await checkout.session(id)).status, 'open'));
    assert.deepEqual(await visit({}), {
      ...OPEN,
      answer: '402 kyt_risk_detected',
      payments: ['failed kyt_risk_detected'],
      verify: 1,
      settle: 1,
    });
  });

  it('the same header sent again during its payment and after it', async () => {
    const { release } = await payAndHold();
    assert.deepEqual(await pay(), {
      ...OPEN,
      answer: '409 processing',
      retryAfter: true,
      session: 'processing',
      payments: ['processing'],
      verify: 1,
      settle: 1,
    });
    release();
    await eventually(async () => assert.equal((await checkout.session(id)).status, 'complete'));
    assert.deepEqual(await pay(), { ...PAID, answer: '409 session_already_paid', retryAfter: true });
    assert.deepEqual(await visit({}), { ...PAID, answer: '200 complete' });
  });

  it('the header’s encodings: standard or URL-safe base64, padded or not', async () => {
    const bytes = Buffer.from(payment.header, 'base64');
    assert.equal(payment.header.length % 4, 0);
    assert.deepEqual(await pay(id, bytes.toString('base64url')), { ...PAID, answer: '200 complete' });
  });

  it('entries: matched with `accepts`, and the facilitator gets the offered one', async () => {
    const { accepted, payload } = payment;
    const respelled = { ...accepted, payTo: accepted.payTo.toLowerCase(), maxTimeoutSeconds: 9, extra: {} };
    assert.deepEqual(await pay(id, paymentHeader(accepted, payload, { accepted: respelled })), {
      ...PAID,
      answer: '200 complete',
    });
    const request = checkout.facilitator.calls.settle.at(-1)?.body as FacilitatorRequest;
    assert.deepEqual(request.paymentRequirements, withoutHints(accepted));
  });

  it('a payload that contradicts its entry: refused before the facilitator is asked', async () => {
    assert.deepEqual(await pay(id, authorized({ value: '4499999' })), {
      ...OPEN,
      answer: '402 invalid_exact_evm_payload_authorization_value',
    });
  });

  it('the payload’s key, which is the same in every spelling', async () => {
    const nonce = `0x${payment.payload.authorization.nonce.slice(2).toUpperCase()}`;
    assert.deepEqual(await pay(), { ...PAID, answer: '200 complete' });
    const { id: other } = await checkout.buildSession();
    assert.deepEqual(await pay(other, authorized({ nonce })), {
      ...OPEN,
      answer: '409 signature_already_used',
      retryAfter: true,
      verify: 1,
      settle: 1,
    });
  });

  for (const [reason, code] of [
    ['invalid_exact_evm_insufficient_balance', 'insufficient_funds'],
    ['a_newer_word', 'a_newer_word'],
    ['Not a code!', 'payment_failed'],
  ] as const) {
    it(`the failure code: ${code} for "${reason}"`, async () => {
      checkout.facilitator.verify.next(refuses(reason));
      assert.deepEqual(await pay(), { ...OPEN, answer: `402 ${code}`, verify: 1 });
    });
  }

  for (const [title, change, code] of [
    ['amount', { amount: '1' }, 'invalid_payment_requirements'],
    ['scheme', { scheme: 'upto' }, 'unsupported_scheme'],
    ['network', { network: 'eip155:1' }, 'invalid_network'],
  ] as const) {
    it(`a payment that matches no entry because of its ${title}: ${code}`, async () => {
      const accepted = { ...payment.accepted, ...change };
      const header = paymentHeader(payment.accepted, payment.payload, { accepted });
      assert.deepEqual(await pay(id, header), { ...OPEN, answer: `402 ${code}` });
    });
  }

  it('both payment headers: PAYMENT-SIGNATURE takes precedence', async () => {
    const record = await visit({ 'PAYMENT-SIGNATURE': payment.header, 'X-PAYMENT': '!' });
    assert.deepEqual(record, { ...PAID, answer: '200 complete' });
  });

  it('a payload of version 1 in X-PAYMENT: it pays', async () => {
    const header = v1PaymentHeader('base-sepolia', payment.payload);
    assert.deepEqual(await visit({ 'X-PAYMENT': header }), { ...PAID, answer: '200 complete' });
  });

  it('HEAD: a GET without a body that never pays', async () => {
    const res = await checkout.send('head', id, { 'PAYMENT-SIGNATURE': payment.header });
    assert.equal(res.get('PAYMENT-REQUIRED'), (await checkout.visit(id)).get('PAYMENT-REQUIRED'));
    assert.deepEqual(await recordOf(checkout, id, res, payment), { ...OPEN, answer: '402' });
  });

  it('OPTIONS: always 204, and never pays', async () => {
    for (const link of [id, newId('cs_test_')]) {
      const res = await fetch(`http://127.0.0.1:${checkout.app.port}/c/${link}`, {
        method: 'OPTIONS',
        headers: { 'PAYMENT-SIGNATURE': payment.header },
      });
      assert.equal(res.status, 204);
      assert.equal(res.headers.get('access-control-allow-origin'), '*');
    }
    assert.deepEqual(await visit({}), { ...OPEN, answer: '402' });
  });

  for (const method of ['put', 'patch', 'delete'] satisfies LinkMethod[]) {
    it(`${method.toUpperCase()}: 405 with Allow`, async () => {
      const res = await checkout.send(method, id, { 'PAYMENT-SIGNATURE': payment.header });
      assert.deepEqual(res.get('Allow')?.split(', ').sort(), ['GET', 'HEAD', 'OPTIONS', 'POST']);
      const record = await recordOf(checkout, id, res, payment);
      assert.deepEqual(record, { ...OPEN, answer: '405 method_not_allowed' });
    });
  }

  it('the page: 200, 410 or 404, and the agent’s status and headers for a payment', async () => {
    const page = { Accept: 'text/html' };
    assert.deepEqual(await visit(page), { ...OPEN, answer: '200 page' });
    const { id: expired } = await checkout.buildSession({ status: 'expired' });
    assert.equal((await visit(page, expired)).answer, '410 page');
    assert.equal(answerOf(await checkout.visit(newId('cs_test_'), page)), '404 page');
    const paying = { ...page, 'PAYMENT-SIGNATURE': payment.header };
    checkout.facilitator.verify.next(refuses('insufficient_funds'));
    assert.deepEqual(await visit(paying), { ...OPEN, answer: '402 page', verify: 1 });
    assert.deepEqual(await visit(paying), { ...PAID, answer: '200 page', verify: 2 });
    assert.deepEqual(await visit(page), { ...PAID, answer: '200 page', verify: 2 });
  });
});
