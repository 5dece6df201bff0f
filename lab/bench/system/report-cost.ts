import type { Knex } from '../../../shared/db/knex.js';
import { runStatement } from '../../../shared/db/statement.js';
import { FOLD } from '../../../shared/reports/statements/totals.sql.js';

const PAYMENTS = 1000;
const TRIGGER = 'report_changed';

interface Plan {
  'Execution Time': number;
  Triggers: { 'Trigger Name': string; Time: number }[];
}

/**
 * Milliseconds of Postgres for the daily totals of one payment, as EXPLAIN ANALYZE counts them: the trigger that writes the
 * entry, and the payment's part of the fold. Payments succeed again, one statement each, in a transaction that is undone.
 */
export async function reportMsPerPayment(db: Knex): Promise<number> {
  const trx = await db.transaction();
  try {
    const payments = await trx('payments').where({ status: 'succeeded' }).limit(PAYMENTS).pluck('id');
    await trx.raw(`ALTER TABLE payments DISABLE TRIGGER ${TRIGGER}`);
    await trx('payments').whereIn('id', payments).update({ status: 'processing' });
    await trx.raw(`ALTER TABLE payments ENABLE TRIGGER ${TRIGGER}`);
    await trx('report_entries').delete();
    let ms = 0;
    for (const id of payments) {
      const text = `UPDATE payments SET status = 'succeeded' WHERE id = '${id}'`;
      const { Triggers: triggers } = await explain(trx, text, []);
      ms += triggers.find((trigger) => trigger['Trigger Name'] === TRIGGER)?.Time ?? Number.NaN;
    }
    const fold = await explain(trx, FOLD.text, [payments.length]);
    return (ms + fold['Execution Time']) / payments.length;
  } finally {
    await trx.rollback();
  }
}

async function explain(trx: Knex.Transaction, text: string, values: unknown[]): Promise<Plan> {
  const statement = { text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}` };
  const [row] = await runStatement<{ 'QUERY PLAN': Plan[] }>(trx, statement, values);
  const [plan] = row?.['QUERY PLAN'] ?? [];
  if (plan === undefined) throw new Error('Postgres explains nothing');
  return plan;
}
