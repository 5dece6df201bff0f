import type { Knex } from 'knex';

/**
 * Totals of the payments that had succeeded before the trigger of the previous migration. A payment with an entry is left to
 * that entry, whose share is subtracted here. The lock keeps workers from folding entries meanwhile. Nothing else waits.
 */
const FOLD_LOCK = 7_301_202_611;

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`SELECT pg_advisory_xact_lock(${FOLD_LOCK})`);
  await knex.raw('DELETE FROM report_totals WHERE NOT archived');
  await knex.raw(`
    INSERT INTO report_totals (account_id, livemode, span, starts_at, token, network, archived, payments, amount,
      token_amount, refunds, refunded, surplus)
    SELECT account_id, livemode, span,
      to_timestamp(floor(extract(epoch FROM settled_at) / (60 * span)) * 60 * span) AS starts_at, token, network, false,
      sum(payments), sum(amount), sum(token_amount), sum(refunds), sum(refunded), sum(surplus)
    FROM (
      SELECT account_id, livemode, token, network, settled_at, payments, amount, token_amount, refunds, refunded, surplus
      FROM report_shares
      UNION ALL
      SELECT account_id, livemode, token, network, settled_at, -payments, -amount, -token_amount, -refunds, -refunded,
        -surplus
      FROM report_entries WHERE NOT archived
    ) shares CROSS JOIN (VALUES (15), (60), (1440)) spans (span)
    GROUP BY 1, 2, 3, 4, 5, 6`);
}

/** The previous migration drops the tables. */
export async function down(): Promise<void> {}
