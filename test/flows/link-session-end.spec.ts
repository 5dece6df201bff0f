import assert from 'node:assert/strict';
import { failsToSettle } from '../../lab/world/facilitator/dial.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { advanceClock, now } from '../../shared/process/clock.js';
import type { Checkout } from '../support/checkout.js';
import { told } from '../support/link-answers.js';
import { openPatientAndHasty, type PatientAndHasty } from '../support/patient-and-hasty.js';

describe('a link', () => {
  let both: PatientAndHasty;
  let checkout: Checkout;
  let hasty: Checkout;

  before(async () => {
    both = await openPatientAndHasty();
    ({ checkout, hasty } = both);
  });
  afterEach(() => both.settleDown());
  after(() => both.close());

  describe('around its session’s end', () => {
    it('settles and completes a payment that came just before', async () => {
      const held = await both.holdPayment({ expiresAt: new Date(now().getTime() + 20_000) });
      advanceClock(25_000);
      assert.equal(told(await hasty.visit(held.id)), '202 processing');
      await held.finish();
      assert.equal(told(await hasty.visit(held.id)), '200 complete');
      assert.deepEqual(await hasty.events(held.id), ['checkout.session.completed']);
    });

    it('does not take one whose check took longer than the session lasted', async () => {
      const { id } = await checkout.buildSession({ expiresAt: new Date(now().getTime() + 60_000) });
      const payment = await checkout.sign(id);
      const hold = checkout.facilitator.verify.holdNext();
      const paying = checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header }).then(told);
      await eventually(() => assert.equal(checkout.calls(payment).verify, 1));
      advanceClock(61_000);
      hold.release();
      assert.equal(await paying, '410 session_expired');
      assert.equal(checkout.calls(payment).settle, 0);
      assert.deepEqual(await checkout.payments(id), []);
    });

    it('expires when a payment that came before fails after', async () => {
      const { id } = await checkout.buildSession({ expiresAt: new Date(now().getTime() + 20_000) });
      const payment = await checkout.sign(id);
      const hold = checkout.facilitator.settle.holdNext(failsToSettle('insufficient_funds'));
      const paying = checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header }).then(told);
      await eventually(() => assert.equal(checkout.calls(payment).settle, 1));
      advanceClock(25_000);
      hold.release();
      assert.equal(await paying, '402 insufficient_funds');
      assert.equal(told(await checkout.visit(id)), '410 session_expired');
      assert.deepEqual(await checkout.state(id), {
        session: 'expired',
        payments: ['failed'],
        events: ['checkout.session.expired'],
      });
    });
  });
});
