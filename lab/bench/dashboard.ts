import { setTimeout as sleep } from 'node:timers/promises';
import { createApiKey } from '../../shared/accounts/api-keys.js';
import type { Knex } from '../../shared/db/knex.js';
import { rebuildTotals } from '../../shared/reports/rebuild.js';
import { launchBrowser, type TestBrowser } from '../world/page/browser.js';
import { buildEndpoints, buildRefund } from '../world/shop/factories.js';
import { seedInBulk } from './growth/bulk.js';
import { BIG_ACCOUNT } from './growth/seed.js';
import type { Row } from './report/benchmark.js';
import { median, round } from './report/statistics.js';
import { postmaster } from './system/postmaster.js';
import type { System } from './system/system.js';

const PAYMENTS = 1_000_000;
const GOAL_MS = 300;
const VISITS = 10;
/** A process loads half a second after its start what its first answers do not need. */
const SETTLED_MS = 3000;
const METRICS_TOKEN = 'bench-metrics-token';
const SCREENS = [
  ['overview, 30 days', '#/'],
  ['overview, 90 days', '#/?days=90'],
  ['payments', '#/payments'],
  ['payments of a token on a network', '#/payments?token=USDC&network=eip155%3A84532'],
  ['payments being confirmed', '#/payments?status=processing'],
] as const;

/**
 * The time that the service takes for all requests of a screen together, as its metrics have it, in an account with a million
 * payments; and the processor time of web and Postgres, with the document, the script and the metrics.
 */
export async function dashboard(system: System): Promise<Row[]> {
  const browser = await launchBrowser();
  try {
    const counts = { sessions: PAYMENTS, payments: PAYMENTS, deliveries: 200_000 };
    await seedInBulk(system.config.database, { ...counts, accounts: 1, idempotencyRecords: 1 });
    await fillScreens(system.db);
    const { secret } = await createApiKey(system.db, {
      accountId: BIG_ACCOUNT,
      livemode: false,
      name: 'Bench',
    });
    const web = await system.startWeb({ METRICS_TOKEN });
    await sleep(SETTLED_MS);
    const postgres = await postmaster(system.db);
    const processorMs = async (): Promise<number> => (await web.cpuMs()) + (await postgres.cpuMs());
    const rows: Row[] = [];
    for (const [screen, place] of SCREENS) {
      const before = await processorMs();
      const visits: Answers[] = [];
      for (let n = 0; n < VISITS; n += 1) visits.push(await visit(browser, web.url, secret, place));
      rows.push(rowOf(screen, visits, ((await processorMs()) - before) / VISITS));
    }
    return rows;
  } finally {
    await browser.close();
  }
}

/** Seeding fires no trigger: the daily totals are counted from the payments. */
async function fillScreens(db: Knex): Promise<void> {
  await rebuildTotals(db, BIG_ACCOUNT, { from: new Date(0), before: new Date('9999-01-01') });
  await buildEndpoints(db, BIG_ACCOUNT, 8);
  for (let n = 0; n < 20; n += 1) await buildRefund(db, BIG_ACCOUNT);
  await db.raw('ANALYZE');
}

function rowOf(screen: string, visits: readonly Answers[], processorMs: number): Row {
  const totals = visits.map((visited) => total(visited, 'ms'));
  const ms = median(totals);
  const typical = visits[totals.indexOf(ms)] ?? new Map();
  const slowest = [...typical].sort(([, one], [, other]) => other.ms - one.ms)[0];
  return {
    screen,
    requests: total(typical, 'requests'),
    'first ms': round(totals[0] ?? 0),
    'median ms': round(ms),
    'least ms': round(Math.min(...totals)),
    'processor ms': round(processorMs),
    slowest:
      slowest === undefined ? '' : `${slowest[0]}: ${slowest[1].requests} in ${round(slowest[1].ms)} ms`,
    goal: `≤ ${GOAL_MS}`,
    met: ms <= GOAL_MS ? 'yes' : 'no',
  };
}

interface Answered {
  requests: number;
  ms: number;
}

/** Answers by route. */
type Answers = Map<string, Answered>;

function total(answers: Answers, what: keyof Answered): number {
  return [...answers.values()].reduce((sum, answered) => sum + answered[what], 0);
}

/** Opens a screen in a new tab, until it asks nothing more. */
async function visit(browser: TestBrowser, url: string, key: string, place: string): Promise<Answers> {
  const { page } = await browser.open();
  await page.addInitScript(`sessionStorage.setItem('checkout-key', '${key}')`);
  const before = await readAnswers(url);
  await page.goto(`${url}/dashboard${place}`, { waitUntil: 'networkidle' });
  const after = await readAnswers(url);
  await page.context().close();
  for (const [route, { requests, ms }] of before) {
    const answered = after.get(route) ?? { requests: 0, ms: 0 };
    after.set(route, { requests: answered.requests - requests, ms: answered.ms - ms });
  }
  return after;
}

const MEASURED = /^checkout_http_request_seconds_(sum|count)\{[^}]*route="(\/v1\/[^"]*)"[^}]*\} (\S+)$/gm;

/** Reads the counts of all requests to /v1 so far. */
async function readAnswers(url: string): Promise<Answers> {
  const asked = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  const answers: Answers = new Map();
  for (const [, what, route = '', value] of (await asked.text()).matchAll(MEASURED)) {
    const answered = answers.get(route) ?? { requests: 0, ms: 0 };
    answers.set(route, answered);
    if (what === 'count') answered.requests += Number(value);
    else answered.ms += Number(value) * 1000;
  }
  return answers;
}
