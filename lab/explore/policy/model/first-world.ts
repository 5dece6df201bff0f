import type { Setting } from '../setting/setting.js';
import { claimedPayment, freshPayload, type Payload, type Payment, type World } from './world.js';

/**
 * A payment has just claimed the session. Earlier payments may have been refused falsely, or a call with the same payload
 * be forgotten.
 */
export function firstWorld({ end, clockAhead, refusedFalsely, forgets }: Setting): World {
  const refused = Array.from({ length: refusedFalsely }, (_, id) => id);
  return {
    head: -clockAhead,
    wasReorganised: false,
    session: { status: 'processing', isOver: false, paymentId: refusedFalsely, latePaymentId: null },
    payloads: [...refused.map(() => sentPayload(end)), { ...freshPayload(end), isSent: forgets }],
    payments: [...refused.map((payload) => refusedPayment(payload, end)), claimedPayment(refusedFalsely)],
  };
}

function sentPayload(end: number): Payload {
  return {
    ...freshPayload(end),
    isSent: true,
    use: { by: 'payment', block: 0 },
    callOver: 0,
    isOutcomeUnclear: true,
  };
}

const LATE_CHECK_TICKS = 2;

function refusedPayment(payload: number, end: number): Payment {
  return {
    ...claimedPayment(payload),
    status: 'failed',
    failed: 'lately',
    stage: 'watch',
    due: end + LATE_CHECK_TICKS,
  };
}
