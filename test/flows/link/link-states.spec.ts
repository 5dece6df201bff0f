import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { buildPaidSession, EVM_WALLET } from '../../../lab/world/shop/factories.js';
import { advanceClock, now } from '../../../shared/process/clock.js';
import { newId } from '../../../shared/values/ids.js';
import { BUYER, openCheckout, PAID, PROCESSING } from '../../support/checkout.js';
import { pairForAllTests } from '../../support/checkout-pair.js';
import { forEachTest } from '../../support/hooks.js';
import { answerOf, receiptOf } from '../../support/link-answers.js';

const MALFORMED = 'no-payment!';

describe('a payment link', () => {
  const { checkout, noWait, holdPayment } = pairForAllTests();
  const open = forEachTest(() => checkout.buildSession());

  async function paidSession(): Promise<string> {
    return (await buildPaidSession(checkout.app.db, checkout.merchant.accountId)).session.id;
  }

  describe('answers', () => {
    it('402 while the session waits for a payment', async () => {
      assert.equal(answerOf(await checkout.visit(open.id)), '402');
    });

    it('200 with a receipt to the payment', async () => {
      const payment = await checkout.sign(open.id);
      const res = await checkout.visit(open.id, { 'PAYMENT-SIGNATURE': payment.header });
      assert.equal(answerOf(res), '200 complete');
      const [moved] = checkout.facilitator.ledger.slice(-1);
      const receipt = receiptOf(res);
      assert.deepEqual(receipt, {
        success: true,
        transaction: moved?.transaction,
        network: 'eip155:84532',
        payer: BUYER.address,
      });
      assert.equal(res.get('X-PAYMENT-RESPONSE'), res.get('PAYMENT-RESPONSE'));
      assert.equal(moved?.paymentId, payment.payload.authorization.nonce);
      assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
      assert.deepEqual(await checkout.state(open.id), PAID);
    });

    it('200 with the receipt to every later GET and POST', async () => {
      const first = await checkout.pay(open.id);
      const calls = checkout.facilitator.calls.verify.length;
      for (const method of ['get', 'post'] as const) {
        const again = await checkout.send(method, open.id);
        assert.equal(again.text, first.text);
        assert.deepEqual(receiptOf(again), receiptOf(first));
      }
      assert.equal(checkout.facilitator.calls.verify.length, calls);
    });

    it("a receipt with the buyer's fields only", async () => {
      const { id, expiresAt } = await checkout.buildSession({
        metadata: { order: 'secret' },
        clientReferenceId: 'secret',
        customerEmail: 'secret@example.com',
        successUrl: 'https://shop.example/thanks',
      });
      const { body } = await checkout.pay(id);
      const [payment] = await checkout.payments(id);
      const transaction = checkout.facilitator.ledger.at(-1)?.transaction ?? '';
      assert.ok(payment?.settledAt);
      assert.deepEqual(body, {
        status: 'complete',
        session: {
          id,
          status: 'complete',
          payment_status: 'paid',
          livemode: false,
          merchant: { name: 'Cafe Pocket', logo_url: null, brand_color: null, support_email: null },
          line_items: [
            {
              name: 'Coffee',
              description: null,
              images: [],
              unit_amount: 450,
              quantity: 1,
              amount_total: 450,
            },
          ],
          amount_total: 450,
          currency: 'usd',
          expires_at: Math.floor(expiresAt.getTime() / 1000),
          success_url: 'https://shop.example/thanks',
          cancel_url: null,
          accepts: { evm: true, svm: true },
          payment: {
            id: payment.id,
            object: 'payment',
            status: 'succeeded',
            amount: 450,
            currency: 'usd',
            token: 'USDC',
            token_amount: '4500000',
            token_decimals: 6,
            network: 'eip155:84532',
            network_name: 'Base Sepolia',
            payer: BUYER.address,
            pay_to: EVM_WALLET,
            channel: 'x402',
            transaction,
            transaction_url: `https://sepolia.basescan.org/tx/${transaction}`,
            created: body.session.payment.created,
            settled_at: Math.floor(payment.settledAt.getTime() / 1000),
            livemode: false,
          },
        },
      });
    });

    for (const [cents, units] of [
      [0, '0'],
      [1, '10000'],
      [9_007_199_254_740_991, '90071992547409910000'],
    ] as const) {
      it(`200 to a payment of exactly ${cents} cents, which it offers in every token`, async () => {
        const { id } = await checkout.buildSession({ amountTotalCents: cents });
        const { accepts } = await checkout.quote(id);
        assert.deepEqual(new Set(accepts.map((entry) => entry.amount)), new Set([units]));
        const { body } = await checkout.pay(id);
        const { amount, token_amount: tokenAmount } = body.session.payment;
        assert.deepEqual([body.session.amount_total, amount, tokenAmount], [cents, cents, units]);
        assert.equal(checkout.facilitator.ledger.at(-1)?.amount, BigInt(units));
      });
    }

    it('202 while a payment is in progress, then 200', async () => {
      const { id, payment, finish } = await holdPayment();
      const waiting = await noWait.visit(id);
      assert.equal(answerOf(waiting), '202 processing');
      assert.equal(waiting.get('Retry-After'), '2');
      assert.equal(waiting.get('PAYMENT-RESPONSE'), undefined);
      assert.deepEqual(await noWait.state(id), PROCESSING);
      await finish();
      const res = await noWait.visit(id);
      assert.equal(answerOf(res), '200 complete');
      assert.equal(receiptOf(res)?.transaction, noWait.facilitator.ledger.at(-1)?.transaction);
      assert.deepEqual(noWait.calls(payment), { verify: 1, settle: 1 });
    });

    it('409 to another payment, and to the same one, while one is in progress', async () => {
      const other = await noWait.sign((await noWait.buildSession()).id);
      const { id, payment, finish } = await holdPayment();
      for (const { header } of [other, payment]) {
        assert.equal(answerOf(await noWait.visit(id, { 'PAYMENT-SIGNATURE': header })), '409 processing');
      }
      assert.deepEqual(noWait.calls(other), { verify: 0, settle: 0 });
      assert.deepEqual(noWait.calls(payment), { verify: 1, settle: 1 });
      await finish();
    });

    it('409 to another payment of a paid session, without asking the facilitator', async () => {
      const payment = await checkout.sign(open.id);
      const res = await checkout.visit(await paidSession(), { 'PAYMENT-SIGNATURE': payment.header });
      assert.equal(answerOf(res), '409 session_already_paid');
      assert.equal(receiptOf(res), undefined);
      assert.deepEqual(checkout.calls(payment), { verify: 0, settle: 0 });
    });

    for (const [what, paths] of Object.entries({
      'an id that no session has': [newId('cs_test_'), newId('pay_'), 'x', 'x'.repeat(200), '%00', "'--"],
      'a percent-encoded id, also a wrong one': ['caf%C3%A9', '%', '%E0%A4%A', '%ff'],
      'a path that is not a link': ['', 'x/y', 'x/y/z', '/x'],
    })) {
      it(`404 to ${what}, as JSON and as a page`, async () => {
        for (const path of paths) {
          assert.equal(answerOf(await checkout.visit(path)), '404 resource_missing', path);
          assert.equal(answerOf(await checkout.visit(path, { Accept: 'text/html' })), '404 page', path);
        }
      });
    }

    it('410 when the merchant has expired the session', async () => {
      const { id } = await checkout.buildSession({ status: 'expired' });
      assert.equal(answerOf(await checkout.visit(id)), '410 session_expired');
    });

    it('410 from the second at which the session expires, without a worker', async () => {
      const webOnly = await openCheckout({ worker: false });
      try {
        const { id } = await webOnly.buildSession({ expiresAt: new Date(now().getTime() + 1_800_000) });
        const payment = await webOnly.sign(id);
        advanceClock(1_740_000);
        assert.equal(answerOf(await webOnly.visit(id)), '402');
        advanceClock(60_000);
        assert.equal(answerOf(await webOnly.visit(id)), '410 session_expired');
        const paying = await webOnly.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
        assert.equal(answerOf(paying), '410 session_expired');
        assert.deepEqual(webOnly.calls(payment), { verify: 0, settle: 0 });
        assert.deepEqual((await webOnly.state(id)).payments, []);
      } finally {
        await webOnly.close();
      }
    });
  });

  describe('checks in this order:', () => {
    const send = (id: string, header: string): Promise<string> =>
      checkout.visit(id, { 'PAYMENT-SIGNATURE': header }).then(answerOf);

    it('the session exists', async () => {
      const { header } = await checkout.sign(open.id);
      assert.equal(await send(newId('cs_test_'), MALFORMED), '404 resource_missing');
      assert.equal(await send(newId('cs_test_'), header), '404 resource_missing');
    });

    it('the header is a payment', async () => {
      const { id: expired } = await checkout.buildSession({ status: 'expired' });
      const { id: over } = await checkout.buildSession({ expiresAt: now() });
      for (const id of [open.id, expired, over, await paidSession()]) {
        assert.equal(await send(id, MALFORMED), '400 invalid_payment_payload');
      }
      const held = await holdPayment();
      const res = await noWait.visit(held.id, { 'PAYMENT-SIGNATURE': MALFORMED });
      assert.equal(answerOf(res), '400 invalid_payment_payload');
      await held.finish();
    });

    it('the session accepts payments; the facilitator is not asked for one that does not', async () => {
      const { payload, accepted } = await checkout.sign(open.id);
      const wrong = Buffer.from(
        JSON.stringify({ x402Version: 3, accepted: { ...accepted, amount: '1' }, payload }),
      ).toString('base64');
      const { supported, verify } = checkout.facilitator.calls;
      const asked = [supported.length, verify.length];
      // The cached /supported is stale, so that an offer would call the facilitator.
      advanceClock(61_000);
      const { id: expired } = await checkout.buildSession({ status: 'expired' });
      assert.equal(await send(expired, wrong), '410 session_expired');
      assert.equal(await send(await paidSession(), wrong), '409 session_already_paid');
      assert.equal(answerOf(await checkout.visit(await paidSession())), '200 complete');
      assert.deepEqual([supported.length, verify.length], asked);
      assert.equal(await send(open.id, wrong), '402 invalid_x402_version');
    });
  });

  it('answers waiting payments with 202 when the web process stops', async () => {
    const { facilitator } = checkout;
    const stopping = await openCheckout({ facilitator, worker: false });
    const { id } = await stopping.buildSession();
    const payment = await stopping.sign(id);
    const hold = facilitator.settle.holdNext();
    const paying = stopping.visit(id, { 'PAYMENT-SIGNATURE': payment.header }).then(answerOf);
    await eventually(() => assert.equal(stopping.calls(payment).settle, 1));
    stopping.app.settlements.close();
    assert.equal(await paying, '202 processing');
    hold.release();
    await eventually(async () => assert.equal(answerOf(await stopping.visit(id)), '200 complete'));
    await stopping.app.close();
  });
});
