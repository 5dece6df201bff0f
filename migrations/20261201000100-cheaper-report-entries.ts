import type { Knex } from 'knex';

/**
 * Makes the entry of a payment cheaper: one index less, no number from a sequence, and a plain row for a first payment of a
 * session, which nearly every payment is. Other entries are computed as before. No release has named the column `id`.
 * `REPLICA IDENTITY FULL`: a table without a key refuses deletions where it is replicated logically.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE report_entries DROP COLUMN id, REPLICA IDENTITY FULL`);
  await replaceFunction(knex, PLAIN_OR_COMPUTED);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE report_entries ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, REPLICA IDENTITY DEFAULT`);
  await replaceFunction(knex, insertShare('NEW', { negative: false, archived: false }));
}

async function replaceFunction(knex: Knex, insertNew: string): Promise<void> {
  await knex.raw(`
    CREATE OR REPLACE FUNCTION note_report_entry() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP <> 'INSERT' AND OLD.status = 'succeeded' THEN
        ${insertShare('OLD', { negative: true, archived: false })};
      END IF;
      IF TG_OP = 'DELETE' THEN
        ${insertShare('OLD', { negative: false, archived: true })};
      ELSIF NEW.status = 'succeeded' THEN
        ${insertNew};
      END IF;
      RETURN NULL;
    END $$`);
}

const INTO = `INSERT INTO report_entries (payment_id, account_id, livemode, token, network, settled_at, archived, payments,
          amount, token_amount, refunds, refunded, surplus)`;

const PLAIN_OR_COMPUTED = `IF NEW.surplus OR NEW.payable_id LIKE 're\\_%' THEN
          ${insertShare('NEW', { negative: false, archived: false })};
        ELSE
          ${INTO}
          VALUES (NEW.id, NEW.account_id, NEW.livemode, NEW.token, NEW.network, coalesce(NEW.settled_at, NEW.claimed_at),
            false, 1, NEW.amount_cents, NEW.token_amount, 0, 0, 0);
        END IF`;

/** A surplus payment of a refund counts nowhere: the refund has succeeded by another. */
function shareOf(payment: string): string {
  const counts = `NOT ${payment}.surplus AND ${payment}.payable_id NOT LIKE 're\\_%'`;
  const refunds = `NOT ${payment}.surplus AND ${payment}.payable_id LIKE 're\\_%'`;
  const isSurplus = `${payment}.surplus AND ${payment}.payable_id NOT LIKE 're\\_%'`;
  const when = (condition: string, value: string): string =>
    `CASE WHEN ${condition} THEN ${value} ELSE 0 END`;
  return `${payment}.id AS payment_id, ${payment}.account_id, ${payment}.livemode, ${payment}.token, ${payment}.network,
          coalesce(${payment}.settled_at, ${payment}.claimed_at) AS settled_at,
          ${when(counts, '1')} AS payments, ${when(counts, `${payment}.amount_cents`)} AS amount,
          ${when(counts, `${payment}.token_amount`)} AS token_amount,
          ${when(refunds, '1')} AS refunds, ${when(refunds, `${payment}.amount_cents`)} AS refunded,
          ${when(isSurplus, `${payment}.amount_cents`)} AS surplus`;
}

function insertShare(
  payment: 'OLD' | 'NEW',
  { negative, archived }: { negative: boolean; archived: boolean },
): string {
  const sign = negative ? '-' : '';
  return `${INTO}
        SELECT payment_id, account_id, livemode, token, network, settled_at, ${archived}, ${sign}payments,
          ${sign}amount, ${sign}token_amount, ${sign}refunds, ${sign}refunded, ${sign}surplus
        FROM (SELECT ${shareOf(payment)}) share`;
}
