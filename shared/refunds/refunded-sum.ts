import type { Knex } from '../db/knex.js';
import { runStatement, type Statement } from '../db/statement.js';
import type { Payable } from '../payables/model.js';
import type { Logger } from '../process/logger.js';

/** The refunds that may give money back, or have: all but those that are canceled. */
const REFUNDED_SUM: Statement = {
  name: 'refunded_sum',
  text: `
    SELECT coalesce(sum(amount_total_cents), 0)::bigint AS cents FROM payables
    WHERE refunded_payment_id = $1 AND status <> 'expired'`,
};

const LOCK_REFUNDED: Statement = {
  name: 'lock_refunded',
  text: 'SELECT amount_cents AS cents FROM payments WHERE id = $1 FOR NO KEY UPDATE',
};

/**
 * In cents. Whoever adds to the sum holds the payment that is given back, so that it is exact: those who make refunds, and
 * those whose late money brings a canceled one back. Nobody who holds that payment waits for a refund's row.
 */
export async function refundedSum(trx: Knex.Transaction, paymentId: string): Promise<number> {
  const [sum] = await runStatement<{ cents: number }>(trx, REFUNDED_SUM, [paymentId]);
  return Number(sum?.cents ?? 0);
}

/** A canceled refund whose money came late counts again, and nothing can refuse it: an operator hears when it is too much. */
export async function watchRefundedSum(
  trx: Knex.Transaction,
  { logger }: { logger: Logger },
  { id, refundedPaymentId }: Payable,
): Promise<void> {
  if (refundedPaymentId == null) return;
  const [paid] = await runStatement<{ cents: number }>(trx, LOCK_REFUNDED, [refundedPaymentId]);
  const refunded = await refundedSum(trx, refundedPaymentId);
  if (paid === undefined || refunded <= Number(paid.cents)) return;
  const facts = {
    refund: id,
    payment: refundedPaymentId,
    paid_cents: Number(paid.cents),
    refunded_cents: refunded,
  };
  logger.error({ event: 'refund.surplus', ...facts });
}
