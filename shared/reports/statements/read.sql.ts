import { isKeyActive } from '../../accounts/api-keys.js';
import type { Statement } from '../../db/statement.js';
import { LONGEST_SPAN, SUMS } from './totals.sql.js';

const COLUMNS = SUMS.join(', ');
const SUMMED = SUMS.map((name) => `sum(share.${name})::text AS "${name}"`).join(', ');

interface Shares {
  account: string;
  livemode: string;
  /** A span of which both times are multiples. */
  span: string;
  from: string;
  before: string;
}

/** The folded and the not yet folded shares. Read by one statement, so that no entry is folded between its reads. */
const sharesOf = ({ account, livemode, span, from, before }: Shares): string => `
      SELECT token, network, ${COLUMNS} FROM report_totals
      WHERE account_id = ${account} AND livemode = ${livemode} AND span = ${span}
        AND starts_at >= ${from} AND starts_at < ${before}
      UNION ALL
      SELECT token, network, ${COLUMNS} FROM report_entries
      WHERE account_id = ${account} AND livemode = ${livemode} AND settled_at >= ${from} AND settled_at < ${before}`;

/**
 * The sums of each day of account $1 in mode $2, by token and network, with the key $3. The days lie between the times of
 * the array $5 and the times of $6, which are multiples of the span $4.
 */
export const READ_DAYS: Statement = {
  name: 'report_days',
  text: `
    SELECT day.number::int AS day, share.token, share.network, ${SUMMED}
    FROM unnest($5::timestamptz[], $6::timestamptz[]) WITH ORDINALITY AS day (starts_at, ends_at, number)
    CROSS JOIN LATERAL (${sharesOf({ account: '$1', livemode: '$2', span: '$4', from: 'day.starts_at', before: 'day.ends_at' })}
    ) share
    WHERE ${isKeyActive('$3')}
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3`,
};

/** The sums of the day in UTC from $1 to before $2, by account ($3, or all), mode, token and network. */
export const READ_DAY_OF_ACCOUNTS: Statement = {
  text: `
    SELECT account.id AS account, mode.livemode, share.token, share.network, ${SUMMED}
    FROM accounts account CROSS JOIN (VALUES (true), (false)) AS mode (livemode)
    CROSS JOIN LATERAL (${sharesOf({ account: 'account.id', livemode: 'mode.livemode', span: String(LONGEST_SPAN), from: '$1', before: '$2' })}
    ) share
    WHERE $3::text IS NULL OR account.id = $3
    GROUP BY 1, 2, 3, 4
    ORDER BY 1, 2 DESC, 3, 4`,
};

/** The first time with a share, of account $1 or of all. The indexes begin with the account. */
export const READ_FIRST_TIME: Statement = {
  text: `
    SELECT min(share.at) AS at
    FROM accounts account CROSS JOIN (VALUES (true), (false)) AS mode (livemode)
    CROSS JOIN LATERAL (
      (SELECT starts_at AS at FROM report_totals
       WHERE account_id = account.id AND livemode = mode.livemode AND span = ${LONGEST_SPAN}
       ORDER BY starts_at LIMIT 1)
      UNION ALL
      (SELECT settled_at FROM report_entries
       WHERE account_id = account.id AND livemode = mode.livemode
       ORDER BY settled_at LIMIT 1)
    ) share
    WHERE $1::text IS NULL OR account.id = $1`,
};
