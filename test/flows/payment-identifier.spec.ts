import assert from 'node:assert/strict';
import {
  appendPaymentIdentifierToExtensions,
  generatePaymentId,
  validatePaymentIdentifier,
} from '@x402/extensions/payment-identifier';
import type { Response } from 'supertest';
import { answers, failsToSettle } from '../../lab/world/facilitator/dial.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { paymentHeader, v1PaymentHeader } from '../../lab/world/shop/agent.js';
import type { Checkout, SignedPayment } from '../support/checkout.js';
import { told } from '../support/link-answers.js';
import { openPatientAndHasty, type PatientAndHasty } from '../support/patient-and-hasty.js';

/** x402's extension: a buyer names its payment, and may send it again whenever an answer was lost. */
describe('a payment identifier', () => {
  let both: PatientAndHasty;
  let checkout: Checkout;
  let hasty: Checkout;
  let id: string;
  let name: string;
  before(async () => {
    both = await openPatientAndHasty();
    ({ checkout, hasty } = both);
  });
  beforeEach(async () => {
    ({ id } = await checkout.buildSession());
    name = generatePaymentId();
  });
  afterEach(() => both.settleDown());
  after(() => both.close());

  /** As the stock package puts it into what a link has declared. */
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

  it('is advertised as the stock package understands it, and is not required', async () => {
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

  it('gives the same payment the same answer, as often as it is sent', async () => {
    const payment = await named();
    const first = await send(payment);
    assert.equal(told(first), '200 complete');
    for (let times = 0; times < 3; times += 1) {
      const again = await send(payment);
      assert.equal(told(again), '200 complete');
      assert.equal(again.text, first.text);
      assert.equal(again.get('PAYMENT-RESPONSE'), first.get('PAYMENT-RESPONSE'));
    }
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
    assert.equal(moneyMoved([payment]), 1);
  });

  it('shows the receipt on the page to who sends it again from there', async () => {
    const payment = await named();
    await send(payment);
    const headers = { 'PAYMENT-SIGNATURE': payment.header, Accept: 'text/html' };
    const page = await checkout.visit(id, headers);
    assert.equal(told(page), '200 page');
    assert.ok(page.get('PAYMENT-RESPONSE'));
  });

  it('changes nothing for a client that only echoes what was declared', async () => {
    const { extensions } = await checkout.quote(id);
    const { accepted, payload } = await checkout.sign(id);
    const header = paymentHeader(accepted, payload, { extensions });
    assert.equal(told(await send({ header })), '200 complete');
    assert.equal((await checkout.payment(id)).identifier, null);
    const again = await send({ header });
    assert.equal(told(again), '409 session_already_paid');
    assert.ok(again.get('PAYMENT-RESPONSE'));
  });

  it('that is another one, or none, makes the same payment one that was sent before', async () => {
    const payment = await named();
    await send(payment);
    const extensions = await extensionsOf((await checkout.buildSession()).id, generatePaymentId());
    const { accepted, payload } = payment;
    for (const header of [
      paymentHeader(accepted, payload, { extensions }),
      paymentHeader(accepted, payload),
    ]) {
      const res = await send({ header });
      assert.equal(told(res), '409 session_already_paid');
      assert.ok(res.get('PAYMENT-RESPONSE'));
    }
  });

  it('refuses another payment under the same name, whether the first is paid or on its way', async () => {
    const hold = checkout.facilitator.settle.holdNext();
    const [first, second] = [await named(), await named()];
    assert.equal(told(await send(first, id, hasty)), '202 processing');
    assert.equal(told(await send(second)), '409 processing');
    hold.release();
    await eventually(async () => assert.equal((await checkout.session(id)).status, 'complete'));
    const refused = await send(second);
    assert.equal(told(refused), '409 session_already_paid');
    assert.equal(refused.get('PAYMENT-RESPONSE'), undefined);
    assert.deepEqual(checkout.calls(second), { verify: 0, settle: 0 });
    assert.equal(moneyMoved([first, second]), 1);
  });

  it('lets who sends the payment again wait for its outcome, with who sent it first', async () => {
    const payment = await named();
    const hold = checkout.facilitator.settle.holdNext();
    const first = send(payment);
    await eventually(() => assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 }));
    const again = [send(payment), send(payment)];
    hold.release();
    const [one, ...others] = await Promise.all([first, ...again]);
    assert.equal(told(one), '200 complete');
    for (const other of others) assert.deepEqual([told(other), other.text], ['200 complete', one.text]);
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
  });

  it('answers 202 again while a payment takes longer than anyone waits', async () => {
    const payment = await named();
    const hold = checkout.facilitator.settle.holdNext();
    for (let times = 0; times < 2; times += 1) {
      assert.equal(told(await send(payment, id, hasty)), '202 processing');
    }
    hold.release();
    await eventually(async () => assert.equal(told(await send(payment, id, hasty)), '200 complete'));
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
  });

  it('claims once when the same payment is sent many times at once: all hear the same', async () => {
    const payment = await named();
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(payment)));
    assert.deepEqual(
      answers.map(told),
      Array.from({ length: 8 }, () => '200 complete'),
    );
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    assert.equal(checkout.calls(payment).settle, 1);
    assert.equal((await checkout.payments(id)).length, 1);
  });

  it('claims once when many payments are sent under it at once', async () => {
    const payments = await Promise.all(Array.from({ length: 6 }, () => named()));
    const answers = (await Promise.all(payments.map((payment) => send(payment)))).map(told).sort();
    assert.equal(answers[0], '200 complete');
    for (const answer of answers.slice(1)) assert.match(answer, /^409 (processing|session_already_paid)$/);
    assert.equal(moneyMoved(payments), 1);
    assert.equal((await checkout.payments(id)).length, 1);
  });

  describe('of a payment that failed', () => {
    let failed: SignedPayment;
    beforeEach(async () => {
      failed = await named();
      checkout.facilitator.settle.next(failsToSettle('insufficient_funds'));
    });

    it('gives it the same refusal again, without asking anyone', async () => {
      const first = await send(failed);
      assert.equal(told(first), '402 insufficient_funds');
      const again = await send(failed);
      assert.equal(told(again), '402 insufficient_funds');
      assert.equal(again.text, first.text);
      assert.equal(again.get('PAYMENT-RESPONSE'), first.get('PAYMENT-RESPONSE'));
      assert.equal(checkout.calls(failed).settle, 1);
    });

    it('takes no other payment, says so, and stores nothing; a new name pays', async () => {
      await send(failed);
      const other = await named();
      assert.equal(told(await send(other)), '409 payment_identifier_reused');
      assert.deepEqual(await checkout.state(id), { session: 'open', payments: ['failed'], events: [] });
      const { accepted, payload } = other;
      const extensions = await extensionsOf(id, generatePaymentId());
      const renamed = paymentHeader(accepted, payload, { extensions });
      assert.equal(told(await send({ header: renamed })), '200 complete');
      assert.equal(moneyMoved([failed, other]), 1);
      assert.equal(told(await send(failed)), '409 session_already_paid');
    });

    it('takes any payment in another session', async () => {
      await send(failed);
      const { id: elsewhere } = await checkout.buildSession();
      assert.equal(told(await send(await named(name, elsewhere), elsewhere)), '200 complete');
    });

    it('is over with the session', async () => {
      await send(failed);
      const { app } = checkout;
      await checkout.session(id).then((session) => session.$query(app.db).patch({ status: 'expired' }));
      assert.equal(told(await send(failed)), '410 session_expired');
    });
  });

  for (const pays of ['the same one', 'another one']) {
    it(`of a payment that never reached the facilitator is free: ${pays} may be sent`, async () => {
      checkout.facilitator.settle.next(answers(401), answers(403), answers(429));
      const lost = await named();
      assert.equal(told(await send(lost)), '503 payment_service_unavailable');
      const next = pays === 'the same one' ? lost : await named();
      assert.equal(told(await send(next)), '200 complete');
      assert.equal(moneyMoved([lost, next]), 1);
      assert.deepEqual((await checkout.state(id)).payments, ['failed', 'succeeded']);
    });
  }

  describe('that is no identifier is refused, with nothing stored and nobody asked:', () => {
    const wrong: Record<string, unknown> = {
      'fifteen characters': { info: { id: 'a'.repeat(15) } },
      'one too many': { info: { id: 'a'.repeat(129) } },
      'an empty one': { info: { id: '' } },
      'a blank in it': { info: { id: 'pay_0123 456789abcdef' } },
      'a line’s end after it': { info: { id: 'pay_0123456789abcdef\n' } },
      'a letter from elsewhere': { info: { id: 'pay_0123456789abcdéf' } },
      'a number': { info: { id: 1_234_567_890_123_456 } },
      'a list': { info: { id: ['pay_0123456789abcdef'] } },
      'an `info` that is a text': { info: 'pay_0123456789abcdef' },
      'an extension that is a text': 'pay_0123456789abcdef',
      'an extension that is a list': [{ info: { id: 'pay_0123456789abcdef' } }],
    };
    for (const [title, extension] of Object.entries(wrong)) {
      it(title, async () => {
        const { accepted, payload, ...rest } = await checkout.sign(id);
        const extensions = { 'payment-identifier': extension };
        const res = await send({ header: paymentHeader(accepted, payload, { extensions }) });
        assert.equal(told(res), '400 invalid_payment_payload');
        assert.match(res.body.error.message, /`payment-identifier` (needs|must be)/);
        assert.deepEqual(checkout.calls({ accepted, payload, ...rest }), { verify: 0, settle: 0 });
        assert.deepEqual(await checkout.state(id), { session: 'open', payments: [], events: [] });
      });
    }
  });

  for (const [title, identifier] of [
    ['16 characters', 'aZ0-_'.padEnd(16, 'x')],
    ['128 characters', 'aZ0-_'.padEnd(128, 'x')],
  ] as const) {
    it(`may have ${title}`, async () => {
      assert.equal(told(await send(await named(identifier))), '200 complete');
      assert.equal((await checkout.payment(id)).identifier, identifier);
    });
  }

  for (const [title, extensions] of Object.entries({
    'no extensions': null,
    'extensions that are a list': [],
    'the extension as null': { 'payment-identifier': null },
    'no `info`': { 'payment-identifier': { schema: {} } },
    'no `id`': { 'payment-identifier': { info: { required: false, id: null } } },
    'other extensions': { bazaar: { info: {} } },
  })) {
    it(`is none with ${title}`, async () => {
      const { accepted, payload } = await checkout.sign(id);
      const res = await send({ header: paymentHeader(accepted, payload, { extensions }) });
      assert.equal(told(res), '200 complete');
      assert.equal((await checkout.payment(id)).identifier, null);
    });
  }

  it('is not read in version 1, which has no extensions', async () => {
    const { payload } = await checkout.sign(id);
    const extensions = { 'payment-identifier': { info: { id: 'short' } } };
    const header = v1PaymentHeader('base-sepolia', payload, { extensions });
    assert.equal(told(await checkout.visit(id, { 'X-PAYMENT': header })), '200 complete');
  });
});
