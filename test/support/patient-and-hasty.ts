import { returnToPresent } from '../../shared/clock.js';
import { type Checkout, openCheckout } from './checkout.js';

/** Two web apps beside one facilitator and one worker. */
export interface PatientAndHasty {
  /** Waits for a payment's outcome as long as anyone would. */
  checkout: Checkout;
  /** Answers 202 as soon as a payment is claimed. */
  hasty: Checkout;
  /** Between two tests: the facilitator is honest, and the clock right. */
  settleDown(): void;
  close(): Promise<void>;
}

export async function openPatientAndHasty(): Promise<PatientAndHasty> {
  const checkout = await openCheckout();
  const { facilitator } = checkout;
  const hasty = await openCheckout({ facilitator, worker: false, environment: { SETTLE_WAIT_MS: '0' } });
  return {
    checkout,
    hasty,
    settleDown() {
      returnToPresent();
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
