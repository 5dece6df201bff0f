import type { Statement } from '../../db/statement.js';

/**
 * Every wallet of family $1 that account $2, or any, has had. Payments since id $4 add the wallets of which no note was made
 * then. The wallets to which refunds since id $3 go back are buyers'.
 */
export const RECEIVING_WALLETS: Statement = {
  name: 'receiving_wallets',
  text: `
    SELECT wallet, bool_or(merchants) AS "isMerchants"
    FROM (
      SELECT wallet, true AS merchants FROM payout_wallets
      WHERE family = $1 AND ($2::text IS NULL OR account_id = $2)
      UNION ALL
      SELECT refund ->> 'payTo', false FROM payables
      WHERE id >= $3 AND id LIKE 're\\_%' AND ($2::text IS NULL OR account_id = $2)
        AND (refund ->> 'network' LIKE 'eip155:%') = ($1 = 'evm')
      UNION ALL
      SELECT pay_to, payable_id LIKE 'cs\\_%' FROM payments
      WHERE id >= $4 AND ($2::text IS NULL OR account_id = $2) AND (network LIKE 'eip155:%') = ($1 = 'evm')
    ) receiver
    GROUP BY wallet`,
};
