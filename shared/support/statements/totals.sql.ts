import type { Statement } from '../../db/statement.js';

/** The payments that settled from $1 to before $2, of account $3 or of all. A merchant's payment of a refund is a refund. */
export const TOTALS_OF_DAY: Statement = {
  name: undefined,
  text: `
    SELECT account_id AS account, livemode, token, network,
      count(*) FILTER (WHERE NOT is_refund)::int AS payments,
      coalesce(sum(amount_cents) FILTER (WHERE NOT is_refund), 0)::text AS amount,
      coalesce(sum(amount_cents) FILTER (WHERE NOT is_refund AND surplus), 0)::text AS surplus,
      count(*) FILTER (WHERE is_refund)::int AS refunds,
      coalesce(sum(amount_cents) FILTER (WHERE is_refund), 0)::text AS refunded
    FROM payments CROSS JOIN LATERAL (SELECT payable_id LIKE 're\\_%' AS is_refund) kind
    WHERE status = 'succeeded' AND settled_at >= $1 AND settled_at < $2
      AND ($3::text IS NULL OR account_id = $3)
    GROUP BY account_id, livemode, token, network
    ORDER BY account_id, livemode DESC, token, network`,
};
