import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import type { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { resetClock } from '../../shared/process/clock.js';
import { type Checkout, openCheckout, type SignedPayment } from './checkout.js';
import { told } from './link-answers.js';

/** Two web apps beside one facilitator and one worker. */
export interface PatientAndHasty {
  /** Waits for a payment's outcome as long as anyone would. */
  checkout: Checkout;
  /** Answers 202 as soon as a payment is claimed. */
  hasty: Checkout;
  /** A session whose payment has reached the facilitator, which takes its time. */
  holdPayment(overrides?: Partial<CheckoutSession>): Promise<HeldPayment>;
  /** Between two tests: the facilitator is honest, and the clock right. */
  settleDown(): void;
  close(): Promise<void>;
}

export interface HeldPayment {
  /** Its session's. */
  id: string;
  payment: SignedPayment;
  finish(): Promise<void>;
}

export async function openPatientAndHasty(): Promise<PatientAndHasty> {
  const checkout = await openCheckout();
  const { facilitator } = checkout;
  const hasty = await openCheckout({ facilitator, worker: false, environment: { SETTLE_WAIT_MS: '0' } });
  return {
    checkout,
    hasty,
    async holdPayment(overrides) {
      const { id } = await hasty.buildSession(overrides);
      const payment = await hasty.sign(id);
      const hold = facilitator.settle.holdNext();
      assert.equal(told(await hasty.visit(id, { 'PAYMENT-SIGNATURE': payment.header })), '202 processing');
      await eventually(() => assert.deepEqual(hasty.calls(payment), { verify: 1, settle: 1 }));
      return {
        id,
        payment,
        async finish() {
          hold.release();
          await eventually(async () => assert.equal((await hasty.session(id)).status, 'complete'));
        },
      };
    },
    settleDown() {
      resetClock();
      for (const dial of [facilitator.verify, facilitator.settle]) {
        dial.honest();
        dial.releaseAll();
      }
    },
    async close() {
      await checkout.close();
      await hasty.close();
    },
  };
}
