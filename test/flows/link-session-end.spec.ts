import assert from 'node:assert/strict';
import { failsToSettle } from '../../lab/world/facilitator/dial.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { advanceClock, now } from '../../shared/process/clock.js';
import type { Checkout } from '../support/checkout.js';
import { openCheckoutPair } from '../support/checkout-pair.js';
import { forAllTests } from '../support/hooks.js';
import { answerOf } from '../support/link-answers.js';

describe('a payment link', () => {
  const both = forAllTests(openCheckoutPair);
  let checkout: Checkout;
  let noWait: Checkout;

  before(async () => {
    ({ checkout, noWait } = both);
  });
  afterEach(() => both.reset());

  describe("around its session's end", () => {
    it('completes a payment that was claimed just before', async () => {
      const held = await both.holdPayment({ expiresAt: new Date(now().getTime() + 20_000) });
      advanceClock(25_000);
      assert.equal(answerOf(await noWait.visit(held.id)), '202 processing');
      await held.finish();
      assert.equal(answerOf(await noWait.visit(held.id)), '200 complete');
      assert.deepEqual(await noWait.events(held.id), ['checkout.session.completed']);
    });

    it('refuses a payment whose /verify ended after the session', async () => {
      const { id } = await checkout.buildSession({ expiresAt: new Date(now().getTime() + 60_000) });
      const payment = await checkout.sign(id);
      const hold = checkout.facilitator.verify.holdNext();
      const paying = checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header }).then(answerOf);
      await eventually(() => assert.equal(checkout.calls(payment).verify, 1));
      advanceClock(61_000);
      hold.release();
      assert.equal(await paying, '410 session_expired');
      assert.equal(checkout.calls(payment).settle, 0);
      assert.deepEqual(await checkout.payments(id), []);
    });

    it('expires when a payment that was claimed before fails after', async () => {
      const { id } = await checkout.buildSession({ expiresAt: new Date(now().getTime() + 20_000) });
      const payment = await checkout.sign(id);
      const hold = checkout.facilitator.settle.holdNext(failsToSettle('kyt_risk_detected'));
      const paying = checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header }).then(answerOf);
      await eventually(() => assert.equal(checkout.calls(payment).settle, 1));
      advanceClock(25_000);
      hold.release();
      assert.equal(await paying, '402 kyt_risk_detected');
      assert.equal(answerOf(await checkout.visit(id)), '410 session_expired');
      assert.deepEqual(await checkout.state(id), {
        session: 'expired',
        payments: ['failed'],
        events: ['checkout.session.expired'],
      });
    });
  });
});
