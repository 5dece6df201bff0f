import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import type { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { resetClock } from '../../shared/process/clock.js';
import { type Checkout, openCheckout, type SignedPayment } from './checkout.js';
import { answerOf } from './link-answers.js';

/** Two web apps that share one facilitator and one worker. */
export interface CheckoutPair {
  /** Waits for a payment's outcome before it answers. */
  checkout: Checkout;
  /** Answers 202 as soon as a payment is claimed. */
  noWait: Checkout;
  /** A session whose payment has reached the facilitator, which holds its answer until `finish`. */
  holdPayment(overrides?: Partial<CheckoutSession>): Promise<HeldPayment>;
  /** Between two tests: makes the facilitator honest and the clock right. */
  reset(): void;
  close(): Promise<void>;
}

export interface HeldPayment {
  /** The session's id. */
  id: string;
  payment: SignedPayment;
  finish(): Promise<void>;
}

export async function openCheckoutPair(): Promise<CheckoutPair> {
  const checkout = await openCheckout();
  const { facilitator } = checkout;
  const noWait = await openCheckout({ facilitator, worker: false, environment: { SETTLE_WAIT_MS: '0' } });
  return {
    checkout,
    noWait,
    async holdPayment(overrides) {
      const { id } = await noWait.buildSession(overrides);
      const payment = await noWait.sign(id);
      const hold = facilitator.settle.holdNext();
      assert.equal(
        answerOf(await noWait.visit(id, { 'PAYMENT-SIGNATURE': payment.header })),
        '202 processing',
      );
      await eventually(() => assert.deepEqual(noWait.calls(payment), { verify: 1, settle: 1 }));
      return {
        id,
        payment,
        async finish() {
          hold.release();
          await eventually(async () => assert.equal((await noWait.session(id)).status, 'complete'));
        },
      };
    },
    reset() {
      resetClock();
      for (const dial of [facilitator.verify, facilitator.settle]) {
        dial.honest();
        dial.releaseAll();
      }
    },
    async close() {
      await checkout.close();
      await noWait.close();
    },
  };
}
