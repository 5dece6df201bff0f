import { alike } from '../../db/listing.js';
import type { Statement } from '../../db/statement.js';

/** Hex digits of a stored hash may be in either case. */
const IS_ANOTHERS = `other.id <> asked.id AND other.network = asked.network
      AND (other.transaction = $2 OR other.network LIKE 'eip155:%' AND lower(other.transaction) = lower($2))`;

/**
 * A payment other than $1, of any account, on the same network, that has the transaction $2. Succeeded payments are looked up
 * account by account: their index begins with account and mode, and accounts are few.
 */
export const PAYMENT_OF_TRANSACTION: Statement = {
  text: `
    WITH asked AS MATERIALIZED (SELECT id, network, livemode FROM payments WHERE id = $1)
    SELECT other.id
    FROM asked CROSS JOIN accounts account CROSS JOIN LATERAL (
      SELECT id, network, transaction FROM payments
      WHERE account_id = account.id AND livemode = asked.livemode AND status = 'succeeded'
        AND ${alike('transaction')} = ${alike('$2')}
      OFFSET 0
    ) other
    WHERE ${IS_ANOTHERS}
    UNION ALL
    SELECT other.id
    FROM asked CROSS JOIN LATERAL (
      SELECT id, network, transaction FROM payments
      WHERE status <> 'succeeded' AND transaction IS NOT NULL
        AND ${alike('transaction')} = ${alike('$2')}
      OFFSET 0
    ) other
    WHERE ${IS_ANOTHERS}
    LIMIT 1`,
};
