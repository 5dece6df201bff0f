import { unixSeconds, unixSecondsOrNull } from '../wire/timestamp.js';
import type { Payment } from './model.js';
import { presentListedPayment } from './present.js';

/** A payment with its settlement state, for operators. The payload is left out: it holds the buyer's signature. */
export function presentOperatorPayment(payment: Payment): object {
  return {
    ...presentListedPayment(payment),
    facilitator: payment.facilitator,
    failure_code: payment.failureCode,
    failed_at: unixSecondsOrNull(payment.failedAt),
    surplus: payment.surplus,
    stage: payment.stage,
    due_at: unixSecondsOrNull(payment.dueAt),
    valid_until: unixSeconds(payment.validUntil),
    attempts: payment.attempt,
    settle_calls: payment.settleCalls,
    settle_asked_at: unixSecondsOrNull(payment.settleAskedAt),
    settle_ended_at: unixSecondsOrNull(payment.settleEndedAt),
    settle_unclear: payment.settleUnclear,
    reported_transaction: payment.reportedTransaction,
    history: payment.history,
  };
}
