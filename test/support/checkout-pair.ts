import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import type { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { resetClock } from '../../shared/process/clock.js';
import { type Checkout, openCheckout, type SignedPayment } from './checkout.js';
import { forAllTests } from './hooks.js';
import type { Kind } from './kinds.js';
import { answerOf } from './link-answers.js';

/** Two web apps that share one facilitator and one worker. */
interface CheckoutPair {
  /** Waits for a payment's outcome before it answers. */
  checkout: Checkout;
  /** Answers 202 as soon as a payment is claimed. */
  noWait: Checkout;
  /** A session whose payment has reached the facilitator, which holds its answer until `finish`. */
  holdPayment(overrides?: Partial<CheckoutSession>): Promise<HeldPayment>;
}

interface HeldPayment {
  /** The session's id. */
  id: string;
  payment: SignedPayment;
  finish(): Promise<void>;
}

/** Opens a pair for all tests of a suite. Between two of them the facilitator becomes honest and the clock right. */
export function pairForAllTests(kind: Kind = 'session'): CheckoutPair {
  const checkout = forAllTests(() => openCheckout({ kind }));
  const noWait = forAllTests(() => {
    const { facilitator } = checkout;
    return openCheckout({ kind, facilitator, worker: false, environment: { SETTLE_WAIT_MS: '0' } });
  });
  afterEach(() => {
    resetClock();
    for (const dial of [checkout.facilitator.verify, checkout.facilitator.settle]) {
      dial.honest();
      dial.releaseAll();
    }
  });
  return {
    checkout,
    noWait,
    async holdPayment(overrides) {
      const { id } = await noWait.buildSession(overrides);
      const payment = await noWait.sign(id);
      const hold = noWait.facilitator.settle.holdNext();
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
  };
}
