import type { Payment } from '../payments/model.js';
import { nowMs } from '../process/clock.js';
import { longestWaitEnd } from './policy/check-times.js';
import type { Settings } from './policy/payment-state.js';

/** A payment that is undecided this long after its window waits for more than an endpoint's next answer. */
const URGENT_AFTER_END_MS = 600_000;

/**
 * Until when a chain check should have succeeded: the end of the payment's window. Undefined for a decided payment,
 * and for a payment whose window ended long ago: it must not keep payments whose windows end soon from the endpoint.
 */
export function checkDeadline(payment: Payment, settings: Settings): Date | undefined {
  if (payment.status !== 'processing') return undefined;
  const end = Math.min(payment.validUntil.getTime(), longestWaitEnd(payment, settings).getTime());
  return nowMs() - end > URGENT_AFTER_END_MS ? undefined : new Date(end);
}
