import { transactionUrl } from '../chains/networks/networks.js';
import { REFUND_STATUS_OF } from '../payables/refund-statuses.js';
import type { RefundTerms } from '../payables/refund-terms.js';
import { paidBy } from '../payables/states.js';
import type { Payment } from '../payments/model.js';
import { createdAt } from '../values/ids.js';
import { decimalText, dollarText } from '../values/money.js';
import type { Columns } from '../wire/csv.js';
import { utcText } from '../wire/timestamp.js';
import { type Refund, requireRefund } from './model.js';

/** The refunds list for accountants: the field names of the API, amounts in decimals, times in UTC text. */
export const REFUND_COLUMNS: Columns<Refund> = [
  ['id', ({ id }) => id],
  ['created', ({ id }) => utcText(createdAt(id))],
  ['settled_at', (refund) => utcOrNothing(paidBy(refund)?.settledAt)],
  ['status', ({ status }) => REFUND_STATUS_OF[status]],
  ['reason', (refund) => termsOf(refund).reason],
  ['amount', ({ amountTotalCents }) => dollarText(amountTotalCents)],
  ['currency', () => 'usd'],
  ['token', (refund) => termsOf(refund).token],
  ['token_amount', (refund) => decimalText(termsOf(refund).tokenAmount, termsOf(refund).tokenDecimals)],
  ['network', (refund) => termsOf(refund).network],
  ['network_name', (refund) => termsOf(refund).networkName],
  ['pay_to', (refund) => termsOf(refund).payTo],
  ['transaction', (refund) => paidBy(refund)?.transaction ?? null],
  ['transaction_url', (refund) => urlOf(paidBy(refund))],
  ['payment', ({ refundedPaymentId }) => refundedPaymentId ?? null],
  ['checkout_session', (refund) => termsOf(refund).checkoutSession],
  ['expires_at', ({ expiresAt }) => utcText(expiresAt)],
  ['failure_code', ({ status, failureCode }) => (status === 'complete' ? null : failureCode)],
  ['livemode', ({ livemode }) => livemode],
];

function termsOf(refund: Refund): RefundTerms {
  return requireRefund(refund).refund;
}

function utcOrNothing(time: Date | null | undefined): string | null {
  return time == null ? null : utcText(time);
}

function urlOf(payment: Payment | null): string | null {
  return payment?.transaction ? transactionUrl(payment.network, payment.transaction) : null;
}
