import { networkName } from '../chains/networks/networks.js';
import type { RefundTerms } from '../payables/refund-terms.js';
import type { Payment } from '../payments/model.js';
import { centsToTokenAmount } from '../values/money.js';

/** The terms are stored with the refund, so that a later release shows it unchanged. */
export function refundTerms(
  payment: Payment,
  amountCents: number,
  others: Pick<RefundTerms, 'payTo' | 'reason' | 'reference'>,
): RefundTerms {
  return {
    checkoutSession: payment.payableId,
    token: payment.token,
    tokenAmount: centsToTokenAmount(amountCents, payment.tokenDecimals).toString(),
    tokenDecimals: payment.tokenDecimals,
    network: payment.network,
    networkName: networkName(payment.network),
    asset: payment.asset,
    ...others,
  };
}
