import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { tryFoldLock } from './fold.js';
import { END, FORGET, RECOUNT } from './statements/totals.sql.js';

const BATCH_PAYMENTS = 20_000;
const TURN_MS = 100;

/** Whole days in UTC, since a row of totals may cover one. */
interface RebuiltRange {
  from: Date;
  before: Date;
}

/**
 * Counts an account's totals anew from its payments, in one transaction: reports show the totals before, then those after.
 * Payments settle meanwhile, and no entry is folded. Returns the number of payments that were read.
 */
export async function rebuildTotals(db: Knex, accountId: string, range: RebuiltRange): Promise<number> {
  for (;;) {
    const read = await db.transaction(async (trx) =>
      (await tryFoldLock(trx)) ? await recount(trx, accountId, range) : undefined,
    );
    if (read !== undefined) return read;
    await sleep(TURN_MS);
  }
}

async function recount(
  trx: Knex.Transaction,
  accountId: string,
  { from, before }: RebuiltRange,
): Promise<number> {
  let read = 0;
  await runStatement(trx, FORGET, [accountId, from, before]);
  for (const livemode of [true, false]) {
    for (let last = ''; last !== END; ) {
      const values = [accountId, livemode, last, from, before, BATCH_PAYMENTS];
      const [reached] = await runStatement<{ last: string; count: number }>(trx, RECOUNT, values);
      last = reached?.last ?? END;
      read += reached?.count ?? 0;
    }
  }
  return read;
}
