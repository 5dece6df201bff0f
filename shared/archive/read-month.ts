import type { Knex } from '../db/knex.js';
import { runStatement, type Statement } from '../db/statement.js';
import { type GrowingTable, type Month, slicesOf } from '../values/months.js';
import type { ArchivedRow } from './archive-file.js';
import { belongingTo, NEXT_PAYABLES } from './statements/rows.sql.js';

export interface Batch {
  table: GrowingTable;
  rows: ArchivedRow[];
}

/** The sessions and refunds created in a month, with their payments, events and deliveries of any time. */
export async function* payablesMadeIn(db: Knex, month: Month): AsyncGenerator<Batch> {
  for await (const payables of payablesOf(db, month)) {
    yield { table: 'payables', rows: payables };
    const ids = idsOf(payables);
    yield { table: 'payments', rows: await readRows(db, belongingTo('payments'), [ids]) };
    const events = await readRows(db, belongingTo('events'), [ids]);
    yield { table: 'events', rows: events };
    const deliveries = await readRows(db, belongingTo('webhook_deliveries'), [idsOf(events)]);
    yield { table: 'webhook_deliveries', rows: deliveries };
  }
}

async function* payablesOf(db: Knex, month: Month): AsyncGenerator<ArchivedRow[]> {
  for (const { from, below } of slicesOf('payables', month)) {
    let next = from;
    for (;;) {
      const rows = await readRows(db, NEXT_PAYABLES, [next, below]);
      const last = rows.at(-1);
      if (last === undefined) break;
      yield rows;
      // The next possible id after `last.id`: `0` is the lowest digit of ids.
      next = `${last.id}0`;
    }
  }
}

/** Rows are read in UTC, so that their text does not depend on the role's time zone. */
async function readRows(db: Knex, statement: Statement, values: readonly unknown[]): Promise<ArchivedRow[]> {
  return await db.transaction(async (trx) => {
    await inUtc(trx);
    return await runStatement<ArchivedRow>(trx, statement, values);
  });
}

export async function inUtc(trx: Knex.Transaction): Promise<void> {
  await runStatement(trx, { text: "SET LOCAL TIME ZONE 'UTC'" }, []);
}

function idsOf(rows: readonly ArchivedRow[]): string[] {
  return rows.map(({ id }) => id);
}
