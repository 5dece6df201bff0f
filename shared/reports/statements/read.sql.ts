import { isKeyActive } from '../../accounts/api-keys.js';
import type { Statement } from '../../db/statement.js';
import { SUMS } from './totals.sql.js';

const COLUMNS = SUMS.join(', ');

/**
 * The sums of each day of account $1 in mode $2, by token and network, with the key $3. The days lie between the times of
 * the array $5 and those of $6, which are multiples of the span $4. One statement, so that no entry is folded between its reads.
 */
export const READ_DAYS: Statement = {
  name: 'report_days',
  text: `
    SELECT day.number::int AS day, share.token, share.network,
      ${SUMS.map((name) => `sum(share.${name})::text AS "${name}"`).join(', ')}
    FROM unnest($5::timestamptz[], $6::timestamptz[]) WITH ORDINALITY AS day (starts_at, ends_at, number)
    CROSS JOIN LATERAL (
      SELECT token, network, ${COLUMNS} FROM report_totals
      WHERE account_id = $1 AND livemode = $2 AND span = $4 AND starts_at >= day.starts_at AND starts_at < day.ends_at
      UNION ALL
      SELECT token, network, ${COLUMNS} FROM report_entries
      WHERE account_id = $1 AND livemode = $2 AND settled_at >= day.starts_at AND settled_at < day.ends_at
    ) share
    WHERE ${isKeyActive('$3')}
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3`,
};
