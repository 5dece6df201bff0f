import type { Account } from '../accounts/model.js';
import { transactionUrl } from '../chains/networks/networks.js';
import { type PublicMerchant, presentMerchant } from '../checkout-sessions/present-public.js';
import type { Payable } from '../payables/model.js';
import { paymentLinkUrl } from '../payables/payment-link-url.js';
import { REFUND_STATUS_OF, type RefundStatus } from '../payables/refund-statuses.js';
import type { RefundReason } from '../payables/refund-terms.js';
import { isOver, paidBy } from '../payables/states.js';
import { createdSeconds, unixSeconds, unixSecondsOrNull } from '../wire/timestamp.js';
import { requireRefund } from './model.js';

export interface WireRefund {
  id: string;
  object: 'refund';
  amount: number;
  currency: 'usd';
  payment: string;
  checkout_session: string;
  status: RefundStatus;
  reason: RefundReason | null;
  metadata: Record<string, string>;
  created: number;
  expires_at: number;
  livemode: boolean;
  token: string;
  token_amount: string;
  token_decimals: number;
  network: string;
  network_name: string;
  pay_to: string;
  url: string | null;
  transaction: string | null;
  transaction_url: string | null;
  settled_at: number | null;
  failure_code: string | null;
}

/** The columns of a refund that `presentRefund` reads. */
export const SHOWN_REFUND_FIELDS = [
  'id',
  'livemode',
  'status',
  'amountTotalCents',
  'metadata',
  'expiresAt',
  'failureCode',
  'refundedPaymentId',
  'refund',
] as const satisfies (keyof Payable)[];

export function presentRefund(payable: Payable, baseUrl: string): WireRefund {
  const refund = requireRefund(payable);
  const { refund: terms } = refund;
  const payment = paidBy(refund);
  return {
    id: refund.id,
    object: 'refund',
    amount: refund.amountTotalCents,
    currency: 'usd',
    payment: refund.refundedPaymentId,
    checkout_session: terms.checkoutSession,
    status: REFUND_STATUS_OF[refund.status],
    reason: terms.reason,
    metadata: refund.metadata,
    created: createdSeconds(refund.id),
    expires_at: unixSeconds(refund.expiresAt),
    livemode: refund.livemode,
    token: terms.token,
    token_amount: terms.tokenAmount,
    token_decimals: terms.tokenDecimals,
    network: terms.network,
    network_name: terms.networkName,
    pay_to: terms.payTo,
    url: isOver(refund) ? null : paymentLinkUrl(refund.id, baseUrl),
    transaction: payment?.transaction ?? null,
    transaction_url: payment?.transaction ? transactionUrl(payment.network, payment.transaction) : null,
    settled_at: unixSecondsOrNull(payment?.settledAt ?? null),
    failure_code: refund.status === 'complete' ? null : refund.failureCode,
  };
}

/** A refund as its payment link shows it to every visitor: without the merchant's own metadata. */
type PublicRefund = Omit<WireRefund, 'metadata'> & { merchant: PublicMerchant };

export function presentPublicRefund(refund: Payable, account: Account, baseUrl: string): PublicRefund {
  const { metadata: _, ...shown } = presentRefund(refund, baseUrl);
  return { ...shown, merchant: presentMerchant(account) };
}
