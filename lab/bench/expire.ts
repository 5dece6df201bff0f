import { request } from 'undici';
import type { Knex } from '../../shared/db/knex.js';
import { buildSessions } from '../world/shop/factories.js';
import { compareRates, medianRound, type Pair } from './load/compare.js';
import type { Row } from './report/benchmark.js';
import type { BenchProcess } from './system/server-process.js';
import { openShop, until } from './system/shop.js';
import type { System } from './system/system.js';

const OVERDUE = 100_000;
const BATCH = 1000;
/** Each round takes a minute, most of it for the baseline. */
const ROUNDS = 3;
const GOAL = 10;

/**
 * Overdue sessions, each with its event and one delivery, expired by one worker process without other work; the time
 * runs from its start. The baseline writes the same rows one by one.
 */
export async function expire(system: System): Promise<Row[]> {
  const shop = await openShop(system);
  try {
    await shop.addEndpoint('http://127.0.0.1:1/');
    const bare = await system.startBaseline('expire-one-by-one');
    const seed = () => seedOverdue(system.db, shop.accountId);
    const rates: Pair<number>[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await seed();
      const ours = await byWorker(system);
      await seed();
      rates.push({ ours, baseline: await oneByOne(bare) });
      await requireAll(system.db, OVERDUE * 2 * (round + 1));
    }
    return [compareRates('expire, sessions', medianRound(rates, Number), GOAL)];
  } finally {
    await shop.close();
  }
}

async function seedOverdue(db: Knex, accountId: string): Promise<void> {
  const expiresAt = new Date(Date.now() - 1000);
  for (let made = 0; made < OVERDUE; made += BATCH) await buildSessions(db, accountId, BATCH, { expiresAt });
  // This keeps autovacuum from running during a round.
  await db.raw('VACUUM ANALYZE');
}

/** Sessions per second. */
async function byWorker({ db, startWorker }: System): Promise<number> {
  const worker = await startWorker({ WORKER_QUEUES: 'expire-sessions' });
  const began = performance.now();
  await until(async () => !(await hasOpen(db)));
  const seconds = (performance.now() - began) / 1000;
  await worker.stop();
  return OVERDUE / seconds;
}

/**
 * Uses the index on the end, from its far side. Without it the poll would read the whole table, on the worker's
 * processors.
 */
async function hasOpen(db: Knex): Promise<boolean> {
  const open = db('payables').where('status', 'open').orderBy('expiresAt', 'desc');
  return (await open.first('id')) !== undefined;
}

/** Sessions per second. */
async function oneByOne({ url }: BenchProcess): Promise<number> {
  const { body } = await request(url, { method: 'POST', headersTimeout: 0 });
  const { count, ms } = JSON.parse(await body.text());
  if (count !== OVERDUE) throw new Error(`the baseline found ${count} overdue sessions`);
  return (OVERDUE / ms) * 1000;
}

async function requireAll(db: Knex, expected: number): Promise<void> {
  for (const table of ['events', 'webhookDeliveries']) {
    const [row] = await db(table).count({ rows: '*' });
    if (Number(row?.rows) !== expected)
      throw new Error(`${table} has ${row?.rows} rows, ${expected} are expected`);
  }
}
