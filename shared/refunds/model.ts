import { Payable } from '../payables/model.js';
import type { RefundTerms } from '../payables/refund-terms.js';

/** A payable that a merchant pays, to give a payment back. The table is a view without sessions. */
export class Refund extends Payable {
  static override tableName = 'refunds';
}

type RefundRow = Payable & { refundedPaymentId: string; refund: RefundTerms };

export function isRefund(payable: Payable): payable is RefundRow {
  return payable.refund != null && payable.refundedPaymentId != null;
}

export function requireRefund(payable: Payable): RefundRow {
  if (!isRefund(payable)) throw new Error(`${payable.id} is not a refund`);
  return payable;
}
