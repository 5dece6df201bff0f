import type { Statement } from '../../db/statement.js';

/** The cents of the refunds of payment $1 that are not canceled. */
export const REFUNDED_SUM: Statement = {
  name: 'refunded_sum',
  text: `
    SELECT coalesce(sum(amount_total_cents), 0)::bigint AS cents FROM payables
    WHERE refunded_payment_id = $1 AND status <> 'expired'`,
};

export const LOCK_REFUNDED_PAYMENT: Statement = {
  name: 'lock_refunded',
  text: 'SELECT amount_cents AS cents FROM payments WHERE id = $1 FOR NO KEY UPDATE',
};
