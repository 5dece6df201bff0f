import type { Payment } from '../../shared/payments/model.js';
import type { LinkedPayable } from '../../shared/settlement/read-link.js';
import { OFFER_RECEIPT, type SettlementResponse } from '../../shared/x402/wire.js';
import type { LinkAnswer } from './link-answer.js';
import type { LinkDeps } from './link-deps.js';
import { receiptExtension } from './signed-receipts.js';

type ReceiptDeps = Pick<LinkDeps, 'receipts'>;

/** `payment` is the payment that paid the session. */
export function paid(
  deps: ReceiptDeps,
  session: LinkedPayable,
  payment: Payment = paymentOf(session),
): LinkAnswer {
  return { kind: 'paid', receipt: receiptOf(deps, session, payment), session };
}

/** Requires a complete session. */
export function paymentOf({ id, payment }: LinkedPayable): Payment {
  if (payment === null) throw new Error(`${id} is complete without a payment`);
  return payment;
}

export function receiptOf(
  { receipts }: ReceiptDeps,
  { id }: LinkedPayable,
  payment: Payment,
): SettlementResponse {
  const signed = receipts.sign(id, payment);
  return {
    success: true,
    transaction: payment.transaction ?? '',
    network: payment.network,
    payer: payment.payer ?? '',
    ...(signed !== undefined && { extensions: { [OFFER_RECEIPT]: receiptExtension(signed) } }),
  };
}
