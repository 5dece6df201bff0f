import { randomBytes } from 'node:crypto';
import type { Knex } from '../../shared/db/knex.js';
import { encodeHeader } from '../../shared/x402/headers.js';
import { buildMerchant, buildSessions, EVM_WALLET } from '../world/shop/factories.js';
import { type Contender, median, race, rateRow, round } from './load/race.js';
import type { Load, PreparedRequest } from './load/wrk.js';
import { runLoad } from './load/wrk.js';
import type { Row } from './report/benchmark.js';
import type { BenchProcess } from './system/server-process.js';
import type { BenchServices } from './system/services.js';
import { openSystem, PAYER, type System } from './system/system.js';

/** More than either side answers in a second. */
export const MOST_PER_SECOND = 3000;
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

/** Paid requests end to end: one web process, one worker process, a facilitator that answers at once. */
export async function pay(services: BenchServices): Promise<Row[]> {
  return await withShop(services, async ({ system, facilitator, ours }) => {
    const bare = await system.startBaseline('x402', facilitator);
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

/** The latency of a paid request without the facilitator's time, which is zero here. */
export async function payLatency(services: BenchServices): Promise<Row[]> {
  const goals = [
    { connections: 1, p50Ms: 10, p99Ms: 25 },
    { connections: 50, p50Ms: 50, p99Ms: 120 },
  ];
  return await withShop(services, async ({ ours }) => {
    const rows: Row[] = [];
    // About two thousand payments, so that V8 has optimized the code before single payments are measured.
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

interface Shop {
  system: System;
  facilitator: { FACILITATOR_URL: string };
  /** Web and worker. */
  processes: BenchProcess[];
  ours: Ours;
}

export async function withShop(
  services: BenchServices,
  measure: (shop: Shop) => Promise<Row[]>,
): Promise<Row[]> {
  const system = await openSystem(services);
  try {
    const { accountId } = await buildMerchant(system.db);
    const facilitator = { FACILITATOR_URL: (await system.startBaseline('facilitator')).url };
    const web = await system.startWeb(facilitator);
    const worker = await system.startWorker(facilitator);
    const ours: Ours = async (seconds, connections) => ({
      url: web.url,
      requests: await signedForSessions(system.db, accountId, seconds * MOST_PER_SECOND),
      connections,
      seconds,
      expects: 'success',
      once: true,
    });
    return await measure({ system, facilitator, processes: [web, worker], ours });
  } finally {
    await system.close();
  }
}

/** A signature for each of `count` open sessions; each can be sent once. */
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

/** Signatures are checked by the facilitator, and this one accepts any. */
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
