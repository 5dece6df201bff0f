import knexFactory from 'knex';
import { createApiKey } from '../../shared/accounts/api-keys.js';
import { coffeeOrder } from '../world/shop/coffee-order.js';
import { buildSessions } from '../world/shop/factories.js';
import { seedInBulk } from './growth/bulk.js';
import { medians, WARM_UP } from './growth/medians.js';
import { A_YEAR_OF_BUSINESS, BIG_ACCOUNT, type Counts, seedDatabase } from './growth/seed.js';
import { oneConnectionTo } from './load/one-connection.js';
import { signed } from './load/signed-payments.js';
import type { Row } from './report/benchmark.js';
import { ratioAtMost, round } from './report/statistics.js';
import { openSystem, type System } from './system/system.js';

const TIMES = 300;
const GOAL = 1.1;
const HANDFUL: Counts = { accounts: 5, sessions: 100, payments: 20, deliveries: 40, idempotencyRecords: 10 };

type Acts = Record<'create' | 'retrieve' | 'list' | 'link-402' | 'pay', () => Promise<void>>;

/**
 * Request latency with a year of data and with almost none: two databases of one Postgres, each with a web and a worker
 * process, asked in turn, request by request, so that noise affects both.
 */
export async function growth({ services: { databaseUrl, redisUrl } }: System): Promise<Row[]> {
  const big = await openSystem({
    databaseUrl: await addDatabase(databaseUrl, 'big'),
    redisUrl: `${redisUrl}/1`,
  });
  const small = await openSystem({
    databaseUrl: await addDatabase(databaseUrl, 'small'),
    redisUrl: `${redisUrl}/2`,
  });
  try {
    await seedInBulk(big.config.database, A_YEAR_OF_BUSINESS);
    await seedDatabase(small.db, HANDFUL);
    const [ours, baseline] = [await actsOn(big), await actsOn(small)];
    const rows: Row[] = [];
    for (const name of ['create', 'retrieve', 'list', 'link-402', 'pay'] as const) {
      const [oursMs = 0, baselineMs = 0] = await medians([ours[name], baseline[name]], TIMES);
      const ratio = oursMs / baselineMs;
      rows.push({
        figure: `growth, ${name}`,
        'ours ms': round(oursMs),
        'baseline ms': round(baselineMs),
        ...ratioAtMost(ratio, GOAL),
      });
    }
    return rows;
  } finally {
    await big.close();
    await small.close();
  }
}

async function addDatabase(databaseUrl: string, name: string): Promise<string> {
  const server = knexFactory({ client: 'pg', connection: databaseUrl });
  await server.raw('CREATE DATABASE ??', [name]);
  await server.destroy();
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Requests of the largest account of the seed. */
async function actsOn(system: System): Promise<Acts> {
  const { db } = system;
  const { web } = await system.startAll();
  const key = await createApiKey(db, { accountId: BIG_ACCOUNT, livemode: false, name: 'Bench' });
  const headers = { authorization: `Bearer ${key.secret}` };
  const sessions = await buildSessions(db, BIG_ACCOUNT, WARM_UP + TIMES);
  const payments = signed(sessions.length, (n) => `/c/${sessions[n]?.id}`);
  const paid = await db('checkoutSessions').where({ accountId: BIG_ACCOUNT, status: 'complete' }).first('id');
  const open = (await buildSessions(db, BIG_ACCOUNT, 1))[0];
  const ask = oneConnectionTo(web.url);
  const create = {
    method: 'POST',
    path: '/v1/checkout/sessions',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(coffeeOrder()),
  } as const;
  return {
    create: () => ask(200, create),
    retrieve: () => ask(200, { path: `/v1/checkout/sessions/${paid.id}`, headers }),
    list: () => ask(200, { path: '/v1/checkout/sessions?limit=10', headers }),
    'link-402': () => ask(402, { path: `/c/${open?.id}` }),
    pay: () => ask(200, payments.pop() ?? { path: '/none-left' }),
  };
}
