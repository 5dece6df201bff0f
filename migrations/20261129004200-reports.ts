import type { Knex } from 'knex';

/**
 * Totals of payments by account, mode, token, network and time, for daily reports in any time zone.
 * A trigger writes the share of a payment as an entry, in the transaction that changes the payment and whatever release the
 * code is of. An entry is a new row, so payments of one account never wait for each other. Workers fold entries into
 * `report_totals`; a report sums both.
 * `span`: the minutes that a row of totals covers, so that a report reads one row a day, an hour or a quarter of an hour, as
 * its time zone needs.
 * `archived`: the shares of payments that have left the table of payments. A rebuild from that table leaves them alone.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE report_entries (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      payment_id text COLLATE "C" NOT NULL,
      account_id text COLLATE "C" NOT NULL,
      livemode boolean NOT NULL,
      token text NOT NULL,
      network text NOT NULL,
      settled_at timestamptz NOT NULL,
      archived boolean NOT NULL,
      ${SUMS}
    )`);
  await knex.raw('CREATE INDEX report_entries_read ON report_entries (account_id, livemode, settled_at)');
  await knex.raw(`
    CREATE TABLE report_totals (
      account_id text COLLATE "C" NOT NULL,
      livemode boolean NOT NULL,
      span smallint NOT NULL,
      starts_at timestamptz NOT NULL,
      token text NOT NULL,
      network text NOT NULL,
      archived boolean NOT NULL,
      ${SUMS},
      PRIMARY KEY (account_id, livemode, span, starts_at, token, network, archived)
    )`);
  await knex.raw(`
    CREATE VIEW report_shares AS SELECT ${shareOf('payments')} FROM payments WHERE status = 'succeeded'`);
  await knex.raw(`
    CREATE FUNCTION note_report_entry() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP <> 'INSERT' AND OLD.status = 'succeeded' THEN
        ${insertShare('OLD', { negative: true, archived: false })};
      END IF;
      IF TG_OP = 'DELETE' THEN
        ${insertShare('OLD', { negative: false, archived: true })};
      ELSIF NEW.status = 'succeeded' THEN
        ${insertShare('NEW', { negative: false, archived: false })};
      END IF;
      RETURN NULL;
    END $$`);
  await knex.raw(`
    CREATE TRIGGER report_made AFTER INSERT ON payments
      FOR EACH ROW WHEN (NEW.status = 'succeeded') EXECUTE FUNCTION note_report_entry()`);
  await knex.raw(`
    CREATE TRIGGER report_changed AFTER UPDATE OF status, surplus, settled_at ON payments
      FOR EACH ROW WHEN ((OLD.status = 'succeeded' OR NEW.status = 'succeeded') AND
        ROW (OLD.status, OLD.surplus, OLD.settled_at) IS DISTINCT FROM ROW (NEW.status, NEW.surplus, NEW.settled_at))
      EXECUTE FUNCTION note_report_entry()`);
  await knex.raw(`
    CREATE TRIGGER report_removed AFTER DELETE ON payments
      FOR EACH ROW WHEN (OLD.status = 'succeeded') EXECUTE FUNCTION note_report_entry()`);
}

const SUMS = `
      payments bigint NOT NULL,
      amount bigint NOT NULL,
      token_amount numeric(78, 0) NOT NULL,
      refunds bigint NOT NULL,
      refunded bigint NOT NULL,
      surplus bigint NOT NULL`;

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
  return `INSERT INTO report_entries (payment_id, account_id, livemode, token, network, settled_at, archived, payments,
          amount, token_amount, refunds, refunded, surplus)
        SELECT payment_id, account_id, livemode, token, network, settled_at, ${archived}, ${sign}payments,
          ${sign}amount, ${sign}token_amount, ${sign}refunds, ${sign}refunded, ${sign}surplus
        FROM (SELECT ${shareOf(payment)}) share`;
}

export async function down(knex: Knex): Promise<void> {
  for (const trigger of ['report_made', 'report_changed', 'report_removed'])
    await knex.raw(`DROP TRIGGER ${trigger} ON payments`);
  await knex.raw('DROP FUNCTION note_report_entry');
  await knex.raw('DROP VIEW report_shares');
  await knex.raw('DROP TABLE report_totals');
  await knex.raw('DROP TABLE report_entries');
}
