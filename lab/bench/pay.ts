import { randomBytes } from 'node:crypto';
import type { Knex } from '../../shared/db/knex.js';
import { encodeHeader } from '../../shared/x402/headers.js';
import { buildMerchant, buildSessions, EVM_WALLET } from '../world/shop/factories.js';
import type { Row } from './benchmark.js';
import type { Load, PreparedRequest } from './load/wrk.js';
import { runLoad } from './load/wrk.js';
import { type Contender, median, race, rateRow, round } from './race.js';
import type { BenchServices } from './services.js';
import { openStage, PAYER, type Stage } from './stage/service.js';

/** More than either side answers in a second. */
const MOST_PER_SECOND = 3000;
const BATCH = 1000;
const LATENCY_SECONDS = 5;
const REQUIREMENTS = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '4500000',
  asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  payTo: EVM_WALLET,
  maxTimeoutSeconds: 300,
  extra: { name: 'USDC', version: '2' },
};

/** Paid requests from end to end: one web, one worker, a facilitator that answers at once. */
export async function pay(services: BenchServices): Promise<Row[]> {
  return await withShop(services, async (stage, facilitator, ours) => {
    const bare = await stage.startBaseline('x402', facilitator);
    const rows: Row[] = [];
    for (const [connections, goal] of [
      [50, 1.2],
      [10, 0.9],
    ] as const) {
      const baseline: Contender = (seconds) => ({
        url: bare.url,
        requests: signed(seconds * MOST_PER_SECOND, () => '/'),
        connections,
        seconds,
        expects: 'success',
        once: true,
      });
      const raced = await race((seconds) => ours(seconds, connections), baseline);
      rows.push({ ...rateRow('pay', raced, goal), connections });
    }
    return rows;
  });
}

/** How long a paid request takes over what the facilitator needs, which is nothing here. */
export async function payLatency(services: BenchServices): Promise<Row[]> {
  const goals = [
    { connections: 1, p50Ms: 10, p99Ms: 25 },
    { connections: 50, p50Ms: 50, p99Ms: 120 },
  ];
  return await withShop(services, async (_stage, _facilitator, ours) => {
    const rows: Row[] = [];
    // Some two thousand payments: else one at a time would be measured while V8 still makes up its mind.
    await runLoad(await ours(LATENCY_SECONDS, 50));
    for (const goal of goals) {
      await runLoad(await ours(2, goal.connections));
      const rounds = [];
      for (let n = 0; n < 3; n += 1)
        rounds.push(await runLoad(await ours(LATENCY_SECONDS, goal.connections)));
      const p50 = median(rounds.map(({ p50Ms }) => p50Ms));
      const p99 = median(rounds.map(({ p99Ms }) => p99Ms));
      rows.push({
        figure: `pay-latency, ${goal.connections} at a time`,
        'p50 ms': round(p50),
        'p99 ms': round(p99),
        goal: `≤ ${goal.p50Ms} and ${goal.p99Ms} ms`,
        met: p50 <= goal.p50Ms && p99 <= goal.p99Ms ? 'yes' : 'no',
      });
    }
    return rows;
  });
}

type Ours = (seconds: number, connections: number) => Promise<Load>;

async function withShop(
  services: BenchServices,
  measure: (stage: Stage, facilitator: { FACILITATOR_URL: string }, ours: Ours) => Promise<Row[]>,
): Promise<Row[]> {
  const stage = await openStage(services);
  try {
    const { accountId } = await buildMerchant(stage.db);
    const facilitator = { FACILITATOR_URL: (await stage.startBaseline('facilitator')).url };
    const [web] = await Promise.all([stage.startWeb(facilitator), stage.startWorker(facilitator)]);
    return await measure(stage, facilitator, async (seconds, connections) => ({
      url: web.url,
      requests: await signedForSessions(stage.db, accountId, seconds * MOST_PER_SECOND),
      connections,
      seconds,
      expects: 'success',
      once: true,
    }));
  } finally {
    await stage.close();
  }
}

/** A signature for each of as many open sessions, each to be sent once. */
export async function signedForSessions(
  db: Knex,
  accountId: string,
  count: number,
): Promise<PreparedRequest[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const sessions = await buildSessions(db, accountId, BATCH);
    ids.push(...sessions.map(({ id }) => id));
  }
  return signed(count, (n) => `/c/${ids[n]}`);
}

export function signed(count: number, pathOf: (n: number) => string): PreparedRequest[] {
  return Array.from({ length: count }, (_, n) => ({
    path: pathOf(n),
    headers: { 'PAYMENT-SIGNATURE': encodeHeader(payload()) },
  }));
}

/** The facilitator judges signatures, and this one takes any. */
function payload(): object {
  return {
    x402Version: 2,
    accepted: REQUIREMENTS,
    payload: {
      signature: `0x${'1b'.repeat(65)}`,
      authorization: {
        from: PAYER,
        to: REQUIREMENTS.payTo,
        value: REQUIREMENTS.amount,
        validAfter: '0',
        validBefore: String(Math.floor(Date.now() / 1000) + 290),
        nonce: `0x${randomBytes(32).toString('hex')}`,
      },
    },
  };
}
