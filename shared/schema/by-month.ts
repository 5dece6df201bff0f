import { ConfigError } from '../config/config.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { nowMs } from '../process/clock.js';
import type { Logger } from '../process/logger.js';
import { GROWING_TABLES, type Month, monthAt, monthsAfter, type Slice, slicesOf } from '../values/months.js';
import {
  ARE_BY_MONTH,
  type Between,
  HAS_ROWS,
  HIGHEST,
  KEEP_MARKS,
  KIND_OF_VIEW,
  LOCKS,
  LOWEST,
  makeMonth,
  makeRoot,
  PARTITIONS,
  PARTS,
  SET_PLANNER,
} from './by-month.sql.js';

/** Of a release that stands for a while, whose workers all stand too. */
const AHEAD = 3;
/** Of two workers at once one makes them. */
const MONTHS_LOCK = 7_301_202_611;

/** For five years of months, and as many connections as Postgres allows. */
const ENOUGH_LOCKS = 1024;

interface Part {
  kind: 'index' | 'constraint' | 'view';
  on: string;
  name: string;
  definition: string;
}

/** Whether the tables that grow for ever are kept by month. */
export async function areByMonth(db: Knex): Promise<boolean> {
  const [row] = await ask<{ byMonth: boolean }>(db, ARE_BY_MONTH);
  return row?.byMonth === true;
}

/** For an installation that has no rows yet: one that has would have to be read and written whole. */
export async function keepByMonth(db: Knex): Promise<void> {
  await db.transaction(async (trx) => {
    if (await areByMonth(trx)) return;
    await ask(trx, `LOCK TABLE ${GROWING_TABLES.join(', ')}`);
    const [found] = await ask<{ hasRows: boolean }>(trx, HAS_ROWS);
    if (found?.hasRows !== false) {
      throw new ConfigError(
        'There are sessions already: only an empty database can be set up by month (see docs/operate.md, Growth). Migrate without --by-month.',
      );
    }
    const parts = await ask<Part>(trx, PARTS);
    const views = parts.flatMap(({ kind, name }) => (kind === 'view' ? [name] : []));
    await ask(trx, `DROP VIEW ${['payment_uses', ...views].join(', ')}`);
    // What refers to a table goes before it.
    for (const table of GROWING_TABLES.toReversed()) await ask(trx, makeRoot(table));
    for (const part of parts) await ask(trx, makeAgain(part));
    await ask(trx, KEEP_MARKS);
    for (const slice of slicesAhead(monthAt(nowMs()), AHEAD)) await make(trx, slice);
  });
}

function makeAgain({ kind, on, name, definition }: Part): string {
  if (kind === 'index') return definition;
  if (kind === 'constraint') return `ALTER TABLE ${on} ADD CONSTRAINT ${name} ${definition}`;
  const kindOnly = KIND_OF_VIEW[name];
  return `CREATE VIEW ${name} AS ${definition.replace(/;\s*$/, '')} ${kindOnly ? `AND ${kindOnly}` : ''}`;
}

/** Again with each release: a backup may have come back without it. */
export async function setPlanner(db: Knex, logger: Logger): Promise<void> {
  if (!(await areByMonth(db))) return;
  await ask(db, SET_PLANNER);
  const [postgres] = await ask<{ locks: number }>(db, LOCKS);
  if (postgres === undefined || postgres.locks >= ENOUGH_LOCKS) return;
  logger.warn({
    event: 'config.few_locks',
    max_locks_per_transaction: postgres.locks,
    hint: `A statement may lock each month. Set max_locks_per_transaction of Postgres to ${ENOUGH_LOCKS} or more before there are years of them.`,
  });
}

/** Months ahead that are missing, each on its own; how many were made. Nobody waits for a lock for long. */
export async function makeMonthsAhead(
  db: Knex,
  { from = monthAt(nowMs()), ahead = AHEAD }: { from?: Month; ahead?: number } = {},
): Promise<number> {
  if (!(await areByMonth(db))) return 0;
  const there = new Set((await listPartitions(db)).map(({ name }) => name));
  let made = 0;
  for (const slice of slicesAhead(from, ahead)) {
    if (!there.has(slice.partition) && (await db.transaction((trx) => makeInTurn(trx, slice)))) made += 1;
  }
  return made;
}

async function makeInTurn(trx: Knex, slice: Slice): Promise<boolean> {
  await ask(trx, "SET LOCAL lock_timeout = '500ms'");
  const [turn] = await ask<{ mine: boolean }>(
    trx,
    `SELECT pg_try_advisory_xact_lock(${MONTHS_LOCK}) AS mine`,
  );
  return turn?.mine === true && (await make(trx, slice));
}

/** Whether it was not there. */
async function make(trx: Knex, slice: Slice): Promise<boolean> {
  const partitions = await listPartitions(trx);
  const between = partitions.find(
    ({ table, name, from, below }) =>
      table === slice.table && name.includes('_between_') && from <= slice.from && slice.below <= below,
  );
  if (between === undefined) return false;
  const names = new Set(partitions.map(({ name }) => name));
  let number = 1;
  while (names.has(`${slice.table}_between_${number}`)) number += 1;
  await ask(trx, makeMonth(slice, between, `${slice.table}_between_${number}`));
  return true;
}

interface Partition extends Between {
  table: string;
}

async function listPartitions(db: Knex): Promise<Partition[]> {
  const rows = await ask<{ table: string; name: string; bounds: string }>(db, PARTITIONS);
  return rows.map(({ table, name, bounds }) => {
    const [, from = 'MINVALUE', below = 'MAXVALUE'] = /FROM \((.*)\) TO \((.*)\)/.exec(bounds) ?? [];
    return { table, name, from: boundOf(from), below: boundOf(below) };
  });
}

function boundOf(text: string): string {
  if (text === 'MINVALUE') return LOWEST;
  return text === 'MAXVALUE' ? HIGHEST : text.replaceAll("'", '');
}

function slicesAhead(from: Month, ahead: number): Slice[] {
  const months = Array.from({ length: ahead + 1 }, (_, n) => monthsAfter(from, n));
  return months.flatMap((month) => GROWING_TABLES.flatMap((table) => slicesOf(table, month)));
}

async function ask<Row>(db: Knex, text: string): Promise<Row[]> {
  return await runStatement<Row>(db, { name: undefined, text }, []);
}
