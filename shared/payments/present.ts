import type { TokenSymbol } from '../chains/networks/networks.js';
import { networkName, transactionUrl } from '../chains/networks/networks.js';
import { isRefundId } from '../values/ids.js';
import { createdSeconds, unixSecondsOrNull } from '../wire/timestamp.js';
import type { Payment } from './model.js';
import type { Channel, PaymentStatus } from './states.js';

export interface WirePayment {
  id: string;
  object: 'payment';
  status: PaymentStatus;
  amount: number;
  currency: 'usd';
  token: TokenSymbol;
  token_amount: string;
  token_decimals: number;
  network: string;
  network_name: string;
  payer: string | null;
  pay_to: string;
  channel: Channel;
  transaction: string | null;
  transaction_url: string | null;
  created: number;
  settled_at: number | null;
  livemode: boolean;
}

/** The properties that `presentPayment` reads. */
export const SHOWN_PAYMENT_FIELDS = [
  'id',
  'livemode',
  'status',
  'amountCents',
  'token',
  'tokenAmount',
  'tokenDecimals',
  'network',
  'payer',
  'payTo',
  'channel',
  'transaction',
  'settledAt',
] as const satisfies (keyof Payment)[];

export function presentPayment(payment: Payment): WirePayment {
  return {
    id: payment.id,
    object: 'payment',
    status: payment.status,
    amount: payment.amountCents,
    currency: 'usd',
    token: payment.token,
    token_amount: payment.tokenAmount,
    token_decimals: payment.tokenDecimals,
    network: payment.network,
    network_name: networkName(payment.network),
    payer: payment.payer,
    pay_to: payment.payTo,
    channel: payment.channel,
    transaction: payment.transaction,
    transaction_url:
      payment.transaction === null ? null : transactionUrl(payment.network, payment.transaction),
    created: createdSeconds(payment.id),
    settled_at: unixSecondsOrNull(payment.settledAt),
    livemode: payment.livemode,
  };
}

/**
 * A payment outside its session: alone or in a list. It names its session, or the refund that it paid, and why it failed: `failed`
 * alone would not tell whether its money may have moved.
 */
export function presentListedPayment(payment: Payment): object {
  const { payableId: id, status, failureCode } = payment;
  return {
    ...presentPayment(payment),
    ...(status === 'failed' && { failure_code: failureCode }),
    ...(isRefundId(id) ? { refund: id } : { checkout_session: id }),
  };
}
