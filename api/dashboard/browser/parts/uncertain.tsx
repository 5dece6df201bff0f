import { OUTCOME_UNKNOWN } from '../../../../shared/payments/states.js';
import type { Payment, Refund } from '../api/objects.js';
import { Badge, IdLink } from './texts.js';

/** The payment, or the last payment of the refund, failed, and its money has perhaps moved or can still move. */
export function isUncertain({ failure_code: code }: { failure_code?: string | null }): boolean {
  return code === OUTCOME_UNKNOWN;
}

export function BuyerMayHavePaid({ payment: { id } }: { payment: Payment }) {
  return (
    <p class="failure">
      The buyer may have paid: the outcome of the payment <IdLink screen="payments" id={id} /> is not known.
      Look into your wallet before you ask the buyer to pay again.
    </p>
  );
}

/** The merchant is the payer of a refund. */
export function RefundMayBePaid() {
  return (
    <p class="failure">
      A payment of this refund may have been taken: its outcome is not known. Before you sign it again, or
      make another refund, look into the wallet that signed, or ask the buyer.
    </p>
  );
}

export function PaymentBadge({ payment }: { payment: Payment }) {
  const { status } = payment;
  return <Badge status={status === 'failed' && isUncertain(payment) ? 'uncertain' : status} />;
}

/** A refund that is asked to be signed again could pay the buyer twice. */
export function RefundBadge({ refund }: { refund: Refund }) {
  const { status } = refund;
  return <Badge status={status === 'requires_action' && isUncertain(refund) ? 'uncertain' : status} />;
}
