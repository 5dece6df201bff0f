import { type Principal, requireActiveKey, whereKeyActive } from '../accounts/api-keys.js';
import { type AnswerRendering, renderAndStore } from '../accounts/idempotency.js';
import { CheckoutSession } from '../checkout-sessions/model.js';
import type { Knex } from '../db/knex.js';
import { noSuch, Refusal } from '../errors/refusal.js';
import { chooseExpiry, type Lifetime } from '../payables/lifetime.js';
import { summarize } from '../payables/line-items.js';
import { Payable } from '../payables/model.js';
import type { RefundReason } from '../payables/refund-terms.js';
import { Payment } from '../payments/model.js';
import { now } from '../process/clock.js';
import { isRefundId, newId } from '../values/ids.js';
import type { EventDeps } from '../webhooks/events.js';
import { recordRefundEvent } from './record-events.js';
import { refundedSum } from './refunded-sum.js';
import { refundTerms } from './terms.js';

const DAY_SECONDS = 24 * 3600;

const REFUND_LIFETIME: Lifetime = {
  shortest: 30 * 60,
  longest: 30 * DAY_SECONDS,
  default: 7 * DAY_SECONDS,
  inWords: '30 minutes and 30 days',
};

export interface NewRefund {
  paymentId: string;
  /** The request parameter that named the payment. */
  paymentParam: string;
  /** Undefined: the whole rest of the payment. */
  amountCents: number | undefined;
  reason: RefundReason | null;
  metadata: Record<string, string>;
  expiresAtSeconds: number | undefined;
}

interface NewRefundDeps extends EventDeps {
  /** Undefined when the wallet is not known, or cannot receive money. */
  walletThatPaid(payment: Payment): string | undefined;
}

/**
 * A refund is a payable whose money goes back to the wallet that paid, in the same token, on the same network. The payment's
 * row is locked, so that concurrent refunds never sum to more than the payment.
 */
export async function createRefund(
  db: Knex,
  principal: Principal,
  input: NewRefund,
  deps: NewRefundDeps,
  rendering: AnswerRendering<Payable>,
): Promise<string> {
  const expiresAt = chooseExpiry(input.expiresAtSeconds, REFUND_LIFETIME, now());
  return await db.transaction(async (trx) => {
    const payment = await lockPayment(trx, principal, input);
    const payTo = deps.walletThatPaid(payment);
    if (payTo === undefined) throw payerUnknown(input);
    const amountCents = allowedAmount(input, payment.amountCents - (await refundedSum(trx, payment.id)));
    const session = await CheckoutSession.query(trx).findById(payment.payableId).select('clientReferenceId');
    const terms = { payTo, reason: input.reason, reference: session?.clientReferenceId ?? null };
    const row: Partial<Payable> = {
      id: newId('re_'),
      accountId: principal.accountId,
      livemode: principal.livemode,
      status: 'open',
      amountTotalCents: amountCents,
      lineItems: [],
      summary: summarize([]),
      metadata: input.metadata,
      expiresAt,
      refundedPaymentId: payment.id,
      refund: refundTerms(payment, amountCents, terms),
    };
    const refund = await Payable.query(trx).insert(row).returning('*');
    await recordRefundEvent(trx, 'refund.created', refund, deps);
    return await renderAndStore(trx, rendering, refund);
  });
}

/** A surplus payment can be refunded too. The payment of a refund cannot: it is the merchant's own money. */
async function lockPayment(
  trx: Knex.Transaction,
  principal: Principal,
  { paymentId: id, paymentParam: param }: NewRefund,
): Promise<Payment> {
  const { accountId, livemode } = principal;
  const query = Payment.query(trx).findById(id).where({ accountId, livemode }).forNoKeyUpdate();
  const payment = await whereKeyActive(query, principal);
  if (payment === undefined) {
    await requireActiveKey(trx, principal);
    throw noSuch('payment', id, param);
  }
  if (isRefundId(payment.payableId)) {
    const message = `${id} is the payment of a refund, which cannot be refunded. Name the payment of a checkout session.`;
    throw new Refusal('resource_missing', message, { param });
  }
  if (payment.status === 'succeeded') return payment;
  throw new Refusal(
    'payment_not_succeeded',
    `Only a payment with status succeeded can be refunded; this one is ${payment.status}.`,
    { param },
  );
}

function payerUnknown({ paymentId, paymentParam: param }: NewRefund): Refusal {
  const message = `The wallet that made the payment ${paymentId} is not known, so there is no address to send it back to. Ask the buyer for one, and send it from your own wallet.`;
  return new Refusal('payer_unknown', message, { param });
}

function allowedAmount({ amountCents }: NewRefund, left: number): number {
  const amount = amountCents ?? left;
  if (amount >= 1 && amount <= left) return amount;
  const message =
    left < 1
      ? 'Nothing is left to refund of this payment: 0 cents. If a refund of it still waits to be paid, you can cancel that one and create another.'
      : `${left} cents of this payment are left to refund. Send an amount of at most ${left}.`;
  throw new Refusal('refund_amount_too_large', message, { param: 'amount' });
}
