import { unlessRolledBack } from '../db/after-commit.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import type { Payable } from '../payables/model.js';
import type { Logger } from '../process/logger.js';
import { LOCK_REFUNDED_PAYMENT, REFUNDED_SUM } from './statements/refunded-sum.sql.js';

/**
 * The refunds of a payment that are not canceled, in cents. A transaction that adds to the sum locks the refunded payment's
 * row first, so that the sum is exact: to create a refund, and to complete a canceled refund whose money came late. Under that
 * lock no transaction waits for the row of a refund, so the two locks cannot deadlock.
 */
export async function refundedSum(trx: Knex.Transaction, paymentId: string): Promise<number> {
  const [sum] = await runStatement<{ cents: number }>(trx, REFUNDED_SUM, [paymentId]);
  return Number(sum?.cents ?? 0);
}

/**
 * Logs when late money completes a canceled refund and the refunds then exceed the payment: nothing can refuse that money. The
 * amount of an archived payment is not known, so any other refund of it counts as an excess.
 */
export async function logExcessRefund(
  trx: Knex.Transaction,
  { logger }: { logger: Logger },
  { id, refundedPaymentId, amountTotalCents }: Payable,
): Promise<void> {
  if (refundedPaymentId == null) return;
  const [paid] = await runStatement<{ cents: number }>(trx, LOCK_REFUNDED_PAYMENT, [refundedPaymentId]);
  const refunded = await refundedSum(trx, refundedPaymentId);
  if (refunded <= Number(paid?.cents ?? amountTotalCents)) return;
  const facts = {
    refund: id,
    payment: refundedPaymentId,
    paid_cents: paid === undefined ? null : Number(paid.cents),
    refunded_cents: refunded,
  };
  unlessRolledBack(trx, () => logger.error({ event: 'refund.surplus', ...facts }));
}
