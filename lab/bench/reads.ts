import { createApiKey } from '../../shared/accounts/api-keys.js';
import { buildMerchant, buildPaidSession, buildSessions } from '../world/shop/factories.js';
import { BIG_ACCOUNT, seedDatabase } from './growth/seed.js';
import { type Contender, race, rateRow } from './load/race.js';
import type { PreparedRequest } from './load/wrk.js';
import type { Row } from './report/benchmark.js';
import type { BenchProcess } from './system/server-process.js';
import type { BenchServices } from './system/services.js';
import { type BaselineName, openSystem, type System } from './system/system.js';

/** The number of sessions, requested in turn. */
const SESSIONS = 2000;
const LISTED_AMONG = 1_000_000;

interface Asked {
  ours: PreparedRequest[];
  baseline: PreparedRequest[];
}

/** A merchant retrieves open sessions. */
export async function retrieve(services: BenchServices): Promise<Row[]> {
  return await raceReads(services, { figure: 'retrieve', goal: 0.95, against: 'select' }, async ({ db }) => {
    const { accountId, testKey } = await buildMerchant(db);
    const sessions = await buildSessions(db, accountId, SESSIONS);
    const headers = { Authorization: `Bearer ${testKey}` };
    return {
      ours: sessions.map(({ id }) => ({ path: `/v1/checkout/sessions/${id}`, headers })),
      baseline: sessions.map(({ id }) => ({ path: `/${id}` })),
    };
  });
}

/** A merchant lists the newest ten of a million sessions. */
export async function list(services: BenchServices): Promise<Row[]> {
  return await raceReads(services, { figure: 'list', goal: 1, against: 'list' }, async ({ db }) => {
    await seedDatabase(db, {
      accounts: 100,
      sessions: LISTED_AMONG,
      payments: LISTED_AMONG / 5,
      deliveries: 1,
      idempotencyRecords: 1,
    });
    const key = await createApiKey(db, { accountId: BIG_ACCOUNT, livemode: false, name: 'Bench' });
    const headers = { Authorization: `Bearer ${key.secret}` };
    return {
      ours: [{ path: '/v1/checkout/sessions?limit=10', headers }],
      baseline: [{ path: `/${BIG_ACCOUNT}?limit=10` }],
    };
  });
}

/** An agent requests an unpaid link, whose state is read from the database each time. */
export async function link402(services: BenchServices): Promise<Row[]> {
  const race402 = { figure: 'link-402', goal: 0.9, against: 'x402', expects: 'refusal' } as const;
  return await raceReads(services, race402, async ({ db }) => {
    const { accountId } = await buildMerchant(db);
    const sessions = await buildSessions(db, accountId, SESSIONS);
    return {
      ours: sessions.map(({ id }) => ({ path: `/c/${id}` })),
      baseline: [{ path: '/' }],
    };
  });
}

/** An agent polls a paid link. */
export async function linkPoll(services: BenchServices): Promise<Row[]> {
  return await raceReads(services, { figure: 'link-poll', goal: 0.95, against: 'select' }, async ({ db }) => {
    const { accountId } = await buildMerchant(db);
    const paid = [];
    for (let made = 0; made < SESSIONS / 10; made += 1) paid.push(await buildPaidSession(db, accountId));
    return {
      ours: paid.map(({ session }) => ({ path: `/c/${session.id}` })),
      baseline: paid.map(({ session }) => ({ path: `/${session.id}` })),
    };
  });
}

interface ReadRace {
  figure: string;
  goal: number;
  against: BaselineName;
  expects?: 'success' | 'refusal';
}

async function raceReads(
  services: BenchServices,
  { figure, goal, against, expects = 'success' }: ReadRace,
  prepare: (system: System) => Promise<Asked>,
): Promise<Row[]> {
  const system = await openSystem(services);
  try {
    const asked = await prepare(system);
    // Autovacuum analyzes within a minute.
    await system.db.raw('ANALYZE');
    const facilitator = { FACILITATOR_URL: (await system.startBaseline('facilitator')).url };
    const [web, bare] = await Promise.all([
      system.startWeb(facilitator),
      system.startBaseline(against, facilitator),
    ]);
    const rows: Row[] = [];
    for (const connections of [50, 10]) {
      const load = ({ url }: BenchProcess, requests: PreparedRequest[]): Contender => {
        return (seconds) => ({ url, requests, connections, seconds, expects });
      };
      const raced = await race(load(web, asked.ours), load(bare, asked.baseline));
      rows.push({ ...rateRow(figure, raced, goal), connections });
    }
    return rows;
  } finally {
    await system.close();
  }
}
