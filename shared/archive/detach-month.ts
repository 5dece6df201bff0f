import { setTimeout as sleep } from 'node:timers/promises';
import { sqlState } from '../db/constraints.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { GROWING_TABLES, type Month, type Slice, slicesOf } from '../values/months.js';
import { listUnfinished, type Unfinished } from './at-rest.js';
import { recordPart } from './parts.js';
import type { Part } from './write-part.js';

const NO_LOCK = '55P03';
const TRIES = 60;
const PAUSE_MS = 500;

export type Detachment =
  /** What its tables are called now, and for how long nobody else had any. */
  { kind: 'detached'; tables: string[]; lockedMs: number } | { kind: 'kept'; holds: Unfinished[] };

const NOT_LOCKED: Unfinished = {
  kind: 'transactions that have had the tables all the time (pg_stat_activity)',
  count: 1,
  example: null,
};

/** All tables of a month at once, or none: under their locks, which are waited for half a second at a time. */
export async function detachMonth(db: Knex, part: Part): Promise<Detachment> {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    try {
      return await db.transaction((trx) => detachNow(trx, part));
    } catch (error) {
      if (sqlState(error) !== NO_LOCK) throw error;
      await sleep(PAUSE_MS);
    }
  }
  return { kind: 'kept', holds: [NOT_LOCKED] };
}

async function detachNow(trx: Knex.Transaction, part: Part): Promise<Detachment> {
  await ask(trx, "SET LOCAL lock_timeout = '500ms'");
  // What takes long of it is done before: the question is planned, and the names are known.
  await listUnfinished(trx, part.month);
  const attached: Slice[] = [];
  for (const slice of slicesOfMonth(part.month)) if (await isAttached(trx, slice)) attached.push(slice);
  await ask(trx, `LOCK TABLE ${GROWING_TABLES.map((table) => `ONLY ${table}`).join(', ')}`);
  const startedAt = performance.now();
  const holds = await listUnfinished(trx, part.month);
  if (holds.length > 0) return { kind: 'kept', holds };
  const nameOf = ({ partition }: Slice): string =>
    `archived_${partition}${part.part === 1 ? '' : `_part_${part.part}`}`;
  // They stay under other names, until somebody drops them.
  const moves = attached.map(
    (slice) => `ALTER TABLE ${slice.table} DETACH PARTITION ${slice.partition};
      ALTER TABLE ${slice.partition} RENAME TO ${nameOf(slice)}`,
  );
  if (moves.length > 0) await ask(trx, moves.join(';'));
  await recordPart(trx, part);
  const lockedMs = Math.round(performance.now() - startedAt);
  return { kind: 'detached', tables: attached.map(nameOf), lockedMs };
}

function slicesOfMonth(month: Month): Slice[] {
  return GROWING_TABLES.flatMap((table) => slicesOf(table, month));
}

async function isAttached(trx: Knex.Transaction, { partition }: Slice): Promise<boolean> {
  const found = await ask(trx, `SELECT FROM pg_inherits WHERE inhrelid = to_regclass('${partition}')`);
  return found.length > 0;
}

async function ask<Row>(trx: Knex, text: string): Promise<Row[]> {
  return await runStatement<Row>(trx, { name: undefined, text }, []);
}
