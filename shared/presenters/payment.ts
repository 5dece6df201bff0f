import { networkName, transactionUrl } from '../chains/networks.js';
import type { Payment } from '../models/payment.js';
import { createdSeconds, unixSeconds } from './timestamp.js';

export function presentPayment(payment: Payment): object {
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
    settled_at: payment.settledAt === null ? null : unixSeconds(payment.settledAt),
    livemode: payment.livemode,
  };
}

/** As an element of the payments list, where a payment names its session. */
export function presentListedPayment(payment: Payment): object {
  return { ...presentPayment(payment), checkout_session: payment.checkoutSessionId };
}
