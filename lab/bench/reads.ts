import { createApiKey } from '../../shared/accounts/api-keys.js';
import { buildMerchant, buildPaidSession, buildSessions } from '../world/shop/factories.js';
import { BIG_ACCOUNT, seedDatabase } from './growth/seed.js';
import { type Comparison, compareWithBaseline, type LoadOfRound, rateRow } from './load/compare.js';
import type { PreparedRequest } from './load/wrk.js';
import type { Row } from './report/benchmark.js';
import type { BenchProcess } from './system/server-process.js';
import type { BaselineName, System } from './system/system.js';

/** The number of sessions, requested in turn. */
const SESSIONS = 2000;
const LISTED_AMONG = 1_000_000;

interface RacedReads {
  ours: PreparedRequest[];
  /** The requests to each baseline. */
  baseline: Partial<Record<BaselineName, PreparedRequest[]>>;
}

/** A merchant retrieves open sessions. */
export async function retrieve(system: System): Promise<Row[]> {
  const comparisons = [
    { against: 'select', figure: 'retrieve', goal: 0.95 },
    { against: 'bare-select', figure: 'retrieve, bare http', goal: 1.3 },
  ] as const;
  return await compareReads(system, { comparisons }, async ({ db }) => {
    const { accountId, testKey } = await buildMerchant(db);
    const sessions = await buildSessions(db, accountId, SESSIONS);
    const headers = { Authorization: `Bearer ${testKey}` };
    const read = sessions.map(({ id }) => ({ path: `/${id}` }));
    return {
      ours: sessions.map(({ id }) => ({ path: `/v1/checkout/sessions/${id}`, headers })),
      baseline: { select: read, 'bare-select': read },
    };
  });
}

/** A merchant lists the newest ten of a million sessions. */
export async function list(system: System): Promise<Row[]> {
  const comparisons = [{ against: 'list', figure: 'list', goal: 1 }] as const;
  return await compareReads(system, { comparisons }, async ({ db }) => {
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
      baseline: { list: [{ path: `/${BIG_ACCOUNT}?limit=10` }] },
    };
  });
}

/** An agent requests an unpaid link, whose state is read from the database each time. */
export async function link402(system: System): Promise<Row[]> {
  const comparisons = [
    { against: 'x402', figure: 'link-402', goal: 0.9 },
    { against: 'bare-select', figure: 'link-402, bare http', goal: 1.1 },
  ] as const;
  return await compareReads(system, { comparisons, expects: 'refusal' }, async ({ db }) => {
    const { accountId } = await buildMerchant(db);
    const sessions = await buildSessions(db, accountId, SESSIONS);
    return {
      ours: sessions.map(({ id }) => ({ path: `/c/${id}` })),
      baseline: {
        x402: [{ path: '/' }],
        'bare-select': sessions.map(({ id }) => ({ path: `/unpaid/${id}` })),
      },
    };
  });
}

/** An agent polls a paid link. */
export async function linkPoll(system: System): Promise<Row[]> {
  const comparisons = [
    { against: 'select', figure: 'link-poll', goal: 0.95 },
    { against: 'bare-select', figure: 'link-poll, bare http', goal: 1.1 },
  ] as const;
  return await compareReads(system, { comparisons }, async ({ db }) => {
    const { accountId } = await buildMerchant(db);
    const paid = [];
    for (let made = 0; made < SESSIONS / 10; made += 1) paid.push(await buildPaidSession(db, accountId));
    const read = paid.map(({ session }) => ({ path: `/${session.id}` }));
    return {
      ours: paid.map(({ session }) => ({ path: `/c/${session.id}` })),
      baseline: { select: read, 'bare-select': read },
    };
  });
}

interface ReadComparison {
  comparisons: readonly Comparison[];
  expects?: 'success' | 'refusal';
}

async function compareReads(
  system: System,
  { comparisons, expects = 'success' }: ReadComparison,
  prepare: (system: System) => Promise<RacedReads>,
): Promise<Row[]> {
  const asked = await prepare(system);
  // Autovacuum analyzes within a minute.
  await system.db.raw('ANALYZE');
  const facilitator = await system.startFacilitator();
  const web = await system.startWeb(facilitator);
  const rows: Row[] = [];
  for (const { against, figure, goal } of comparisons) {
    const bare = await system.startBaseline(against, facilitator);
    for (const connections of [50, 10]) {
      const load = ({ url }: BenchProcess, requests: PreparedRequest[] = []): LoadOfRound => {
        return (seconds) => ({ url, requests, connections, seconds, expects });
      };
      const compared = await compareWithBaseline(load(web, asked.ours), load(bare, asked.baseline[against]));
      rows.push({ ...rateRow(figure, compared, goal), connections });
    }
  }
  return rows;
}
