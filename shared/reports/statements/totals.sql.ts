import type { Statement } from '../../db/statement.js';

/** The minutes that a row of `report_totals` covers, the longest first. A payment is counted once in each. */
export const SPANS = [1440, 60, 15] as const;
/** A day in UTC. */
export const [LONGEST_SPAN] = SPANS;
const [, , SHORTEST_SPAN] = SPANS;

/** Folds and rebuilds take turns by this lock. It is held to the end of the transaction, and no payment waits for it. */
const FOLD_LOCK = 7_301_202_611;

export const TRY_LOCK: Statement = {
  name: 'report_try_lock',
  text: `SELECT pg_try_advisory_xact_lock(${FOLD_LOCK}) AS taken`,
};

export const ANY_ENTRY: Statement = {
  name: 'report_any_entry',
  text: 'SELECT FROM report_entries LIMIT 1',
};

/** The columns of entries and of totals that are summed. */
export const SUMS = ['payments', 'amount', 'token_amount', 'refunds', 'refunded', 'surplus'] as const;

/** Adds the rows of `shares` to the totals. A row is summed once, by quarter of an hour; the spans sum those sums. */
function addToTotals(shares: string): string {
  const startOf = (span: string, time: string): string =>
    `date_bin(${span} * interval '1 minute', ${time}, 'epoch')`;
  return `
      INSERT INTO report_totals AS total (account_id, livemode, span, starts_at, token, network, archived, ${SUMS.join(', ')})
      SELECT account_id, livemode, span, ${startOf('span', 'starts_at')}, token, network, archived,
        ${SUMS.map((name) => `sum(${name})`).join(', ')}
      FROM (
        SELECT account_id, livemode, token, network, archived, ${startOf(String(SHORTEST_SPAN), 'settled_at')} AS starts_at,
          ${SUMS.map((name) => `sum(${name}) AS ${name}`).join(', ')}
        FROM ${shares} share GROUP BY 1, 2, 3, 4, 5, 6
      ) quarter CROSS JOIN (VALUES ${SPANS.map((span) => `(${span})`).join(', ')}) spans (span)
      GROUP BY 1, 2, 3, 4, 5, 6, 7
      ON CONFLICT (account_id, livemode, span, starts_at, token, network, archived) DO UPDATE SET
        ${SUMS.map((name) => `${name} = total.${name} + excluded.${name}`).join(', ')}`;
}

/** Moves $1 entries into the totals. The caller holds the lock, so no other statement deletes or moves one meanwhile. */
export const FOLD: Statement = {
  name: 'report_fold',
  text: `
    WITH folded AS (
      DELETE FROM report_entries WHERE ctid = ANY (ARRAY (SELECT ctid FROM report_entries LIMIT $1)) RETURNING *
    ), added AS (${addToTotals('folded')}
    )
    SELECT count(*)::int AS count FROM folded`,
};

/** The totals of account $1 between $2 and $3, without the shares of archived payments. */
export const FORGET: Statement = {
  text: `
    DELETE FROM report_totals
    WHERE account_id = $1 AND livemode IN (true, false) AND span IN (${SPANS.join(', ')})
      AND starts_at >= $2 AND starts_at < $3 AND NOT archived`,
};

/** A text above the id of every payment. */
export const END = 'pay_~';

/**
 * Counts the next $6 payments of account $1 in mode $2 after the id $3 that settled between $4 and $5. An entry that waits
 * to be folded is subtracted: while nothing is folded, a payment's share without its entries stays the same, so payments may
 * settle between two of these statements. Returns the last id, END after the last payment.
 */
export const RECOUNT: Statement = {
  text: `
    WITH batch AS MATERIALIZED (
      SELECT * FROM report_shares WHERE account_id = $1 AND livemode = $2 AND payment_id > $3 ORDER BY payment_id LIMIT $6
    ), reached AS (
      SELECT CASE WHEN count(*) < $6 THEN '${END}' ELSE max(payment_id) END AS id, count(*) AS count FROM batch
    ), shares AS (
      SELECT account_id, livemode, token, network, settled_at, false AS archived, ${SUMS.join(', ')} FROM batch
      UNION ALL
      SELECT account_id, livemode, token, network, settled_at, false, ${SUMS.map((name) => `-${name}`).join(', ')}
      FROM report_entries
      WHERE account_id = $1 AND livemode = $2 AND NOT archived AND payment_id > $3 AND payment_id <= (SELECT id FROM reached)
    ), counted AS (
      SELECT * FROM shares WHERE settled_at >= $4 AND settled_at < $5
    ), added AS (${addToTotals('counted')}
    )
    SELECT id AS last, count::int AS count FROM reached`,
};
