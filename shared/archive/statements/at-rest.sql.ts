import type { Statement } from '../../db/statement.js';
import { isOfMonth, type Month } from '../../values/months.js';

/**
 * Counts a month's unfinished rows by kind, with the id of one of them. Unfinished rows are in partial indexes, so the
 * statement does not read the whole month.
 */
export function findUnfinished(month: Month): Statement {
  const payable = isOfMonth('payable.id', 'payables', month);
  const ofPayable = isOfMonth('payment.payable_id', 'payables', month);
  const payment = `(${isOfMonth('payment.id', 'payments', month)} OR ${ofPayable})`;
  const ofEventPayable = isOfMonth('event.payable_id', 'payables', month);
  const event = `(${isOfMonth('delivery.event_id', 'events', month)} OR ${ofEventPayable})`;
  const delivery = isOfMonth('delivery.id', 'webhook_deliveries', month);
  const kinds: Record<string, string> = {
    'open sessions and refunds': `payable.id FROM payables payable WHERE payable.status = 'open' AND ${payable}`,
    'undecided payments': `payment.id FROM payments payment WHERE payment.status = 'processing' AND ${payment}`,
    'payments that are still watched': `payment.id FROM payments payment
      WHERE payment.due_at IS NOT NULL AND payment.status <> 'processing' AND ${payment}`,
    'deliveries that are not over': `delivery.id FROM webhook_deliveries delivery
      LEFT JOIN events event ON event.id = delivery.event_id
      WHERE delivery.status = 'pending' AND (${event} OR ${delivery})`,
    'refunds under way of its payments': `payable.id FROM payables payable
      JOIN payments payment ON payment.id = payable.refunded_payment_id
      WHERE payable.refunded_payment_id IS NOT NULL AND payable.status IN ('open', 'processing') AND ${payment}`,
    // Late money makes such a refund count again, and is held against the amount of its payment.
    'canceled refunds of its payments whose money may come late': `payable.id FROM payments late
      JOIN payables payable ON payable.id = late.payable_id
      JOIN payments payment ON payment.id = payable.refunded_payment_id
      WHERE late.due_at IS NOT NULL AND late.status <> 'processing' AND payable.status = 'expired' AND ${payment}`,
    // The refunds of a payment are summed while it can be refunded.
    'refunds of payments that were kept': `payable.id FROM payables payable
      JOIN payments payment ON payment.id = payable.refunded_payment_id
      WHERE payable.refunded_payment_id IS NOT NULL AND ${isOfMonth('payable.id', 'payables', month)} AND NOT ${ofPayable}`,
  };
  const texts = Object.entries(kinds).map(
    ([kind, rows]) =>
      `SELECT '${kind}' AS kind, count(*)::int AS count, min(id) AS example FROM (SELECT ${rows}) found`,
  );
  return {
    name: `archive unfinished ${month}`,
    text: `SELECT * FROM (${texts.join(' UNION ALL ')}) kinds WHERE count > 0`,
  };
}
