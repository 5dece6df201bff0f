import {
  buildPaidSession,
  buildRefund,
  buildSession,
  buildUndecidedPayment,
} from '../../lab/world/shop/factories.js';
import { Payable } from '../../shared/payables/model.js';
import type { PayableStatus } from '../../shared/payables/states.js';
import { Payment } from '../../shared/payments/model.js';
import { OUTCOME_UNKNOWN } from '../../shared/payments/states.js';
import { newId } from '../../shared/values/ids.js';
import type { Checkout } from './checkout.js';

interface UncertainOptions {
  /** The session of the payment; a new one by default. */
  session?: Payable;
  /** An existing payment of the session, which becomes uncertain. */
  paymentId?: string;
  status?: PayableStatus;
  isRefund?: boolean;
  /** The payment's outcome is still looked for. */
  isUndecided?: boolean;
}

/** A payment that failed without a known outcome, as the end of the search for it leaves the rows. */
export async function buildUncertainPayment(
  { app: { db }, merchant: { accountId } }: Checkout,
  {
    session: given,
    paymentId,
    status = 'open',
    isRefund = false,
    isUndecided = false,
  }: UncertainOptions = {},
): Promise<{ session: Payable; payment: Payment }> {
  const session = given ?? (isRefund ? await buildRefund(db, accountId) : await buildSession(db, accountId));
  const payment =
    paymentId === undefined
      ? (await buildUndecidedPayment(db, accountId, { payableId: session.id })).payment
      : await Payment.query(db).findById(paymentId).throwIfNotFound();
  const held = { paymentId: payment.id, status: 'processing' as const };
  await Payable.query(db).patch(held).where({ id: session.id });
  if (isUndecided) return { session, payment };
  await Payment.query(db)
    .patch({
      status: 'failed',
      failureCode: OUTCOME_UNKNOWN,
      failedAt: new Date(),
      stage: null,
      dueAt: null,
      // A worker that has taken the row writes no outcome of its own.
      attempt: payment.attempt + 1,
    })
    .where({ id: payment.id });
  await Payable.query(db)
    .patch({ status, paymentId: null, failureCode: OUTCOME_UNKNOWN, failureAt: new Date() })
    .where({ id: session.id });
  return { session, payment };
}

/** A paid session to which a second payment came. */
export async function buildSurplus({
  app: { db },
  merchant: { accountId },
}: Checkout): Promise<{ session: Payable; surplus: Payment }> {
  const { session, payment } = await buildPaidSession(db, accountId);
  const row = await Payment.query(db).findById(payment.id).throwIfNotFound();
  const second = { id: newId('pay_'), payloadKey: newId('pay_'), transaction: `0x${'cd'.repeat(32)}` };
  const surplus = await Payment.query(db)
    .insert({ ...row.$toJson(), ...second, surplus: true, proofIndex: null } as Partial<Payment>)
    .returning('*');
  return { session, surplus };
}
