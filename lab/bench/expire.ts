import { request } from 'undici';
import type { Knex } from '../../shared/db/knex.js';
import { buildSessions } from '../world/shop/factories.js';
import type { Row } from './benchmark.js';
import { compareRates, middle, type Pair } from './race.js';
import type { BenchServices } from './services.js';
import { openShop, until } from './shop.js';
import type { BenchProcess } from './stage/server-process.js';
import { openStage, type Stage } from './stage/service.js';

const OVERDUE = 100_000;
const BATCH = 1000;
/** Each takes a minute, most of it for the baseline. */
const ROUNDS = 3;
const GOAL = 10;

/**
 * Overdue sessions, each with its event and one delivery, expired by one worker process, which has that to do only:
 * from its start, the time until it looks included. The baseline writes the same rows one by one.
 */
export async function expire(services: BenchServices): Promise<Row[]> {
  const stage = await openStage(services);
  const shop = await openShop(stage);
  try {
    await shop.addEndpoint('http://127.0.0.1:1/');
    const bare = await stage.startBaseline('expire-one-by-one');
    const seed = () => seedOverdue(stage.db, shop.accountId);
    const rates: Pair<number>[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await seed();
      const ours = await byWorker(stage);
      await seed();
      rates.push({ ours, baseline: await oneByOne(bare) });
      await requireAll(stage.db, OVERDUE * 2 * (round + 1));
    }
    return [compareRates('expire, sessions', middle(rates, Number), GOAL)];
  } finally {
    await shop.close();
    await stage.close();
  }
}

async function seedOverdue(db: Knex, accountId: string): Promise<void> {
  const expiresAt = new Date(Date.now() - 1000);
  for (let made = 0; made < OVERDUE; made += BATCH) await buildSessions(db, accountId, BATCH, { expiresAt });
  // Else autovacuum does so, some time in a round.
  await db.raw('VACUUM ANALYZE');
}

/** Per second. */
async function byWorker({ db, startWorker }: Stage): Promise<number> {
  const worker = await startWorker({ WORKER_QUEUES: 'expire-sessions' });
  const began = performance.now();
  await until(async () => !(await hasOpen(db)));
  const seconds = (performance.now() - began) / 1000;
  await worker.stop();
  return OVERDUE / seconds;
}

/** The last to expire first, by their index: else who asks every moment reads the whole table, on the worker's processors. */
async function hasOpen(db: Knex): Promise<boolean> {
  const open = db('payables').where('status', 'open').orderBy('expiresAt', 'desc');
  return (await open.first('id')) !== undefined;
}

/** Per second. */
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
