import { buildMerchant } from '../world/shop/factories.js';
import { compareWithBaseline, type LoadOfRound, type Pair, rateRow } from './load/compare.js';
import { MOST_PER_SECOND, signed, signedForSessions } from './load/signed-payments.js';
import type { Load, Measured } from './load/wrk.js';
import { runLoad } from './load/wrk.js';
import type { Row } from './report/benchmark.js';
import { median, ratioAtMost, round } from './report/statistics.js';
import type { BenchProcess } from './system/server-process.js';
import type { System } from './system/system.js';

const LATENCY_SECONDS = 5;
/** The longest that a payment may take when it is the only one. */
const SINGLE_PAYMENT_GOAL = { p50Ms: 10, p99Ms: 25 };

/** Paid requests end to end: one web process, one worker process, a facilitator that answers at once. */
export async function pay(system: System): Promise<Row[]> {
  const { facilitator, ours } = await openPayShop(system);
  const bare = await system.startBaseline('x402', facilitator);
  const rows: Row[] = [];
  for (const [connections, goal] of [
    [50, 1.5],
    [10, 1],
  ] as const) {
    const compared = await compareWithBaseline(
      (seconds) => ours(seconds, connections),
      payMiddleware(bare, connections),
    );
    rows.push({ ...rateRow('pay', compared, goal), connections });
  }
  return rows;
}

/**
 * The latency of a paid request without the facilitator's time, which is zero here: alone, and fifty at a time, where it is
 * compared with the middleware's in the same run.
 */
export async function payLatency(system: System): Promise<Row[]> {
  const { facilitator, ours } = await openPayShop(system);
  const bare = await system.startBaseline('x402', facilitator);
  // About two thousand payments, so that V8 has optimized the code before single payments are measured.
  await runLoad(await ours(LATENCY_SECONDS, 50));
  await runLoad(await ours(2, 1));
  const alone: Measured[] = [];
  for (let n = 0; n < 3; n += 1) alone.push(await runLoad(await ours(LATENCY_SECONDS, 1)));
  const p50 = median(alone.map(({ p50Ms }) => p50Ms));
  const p99 = median(alone.map(({ p99Ms }) => p99Ms));
  const compared = await compareWithBaseline((seconds) => ours(seconds, 50), payMiddleware(bare, 50));
  return [
    {
      figure: 'pay-latency, 1 at a time',
      'ours p50 ms': round(p50),
      'ours p99 ms': round(p99),
      goal: `≤ ${SINGLE_PAYMENT_GOAL.p50Ms} and ${SINGLE_PAYMENT_GOAL.p99Ms} ms`,
      met: p50 <= SINGLE_PAYMENT_GOAL.p50Ms && p99 <= SINGLE_PAYMENT_GOAL.p99Ms ? 'yes' : 'no',
    },
    latencyRow('p50', compared, 0.8),
    latencyRow('p99', compared, 1),
  ];
}

function latencyRow(percentile: 'p50' | 'p99', { ours, baseline }: Pair<Measured>, goal: number): Row {
  const of = (side: Measured): number => (percentile === 'p50' ? side.p50Ms : side.p99Ms);
  const ratio = of(ours) / of(baseline);
  return {
    figure: `pay-latency, 50 at a time, ${percentile}`,
    [`ours ${percentile} ms`]: round(of(ours)),
    [`baseline ${percentile} ms`]: round(of(baseline)),
    ...ratioAtMost(ratio, goal),
  };
}

function payMiddleware({ url }: BenchProcess, connections: number): LoadOfRound {
  return (seconds) => ({
    url,
    requests: signed(seconds * MOST_PER_SECOND, () => '/'),
    connections,
    seconds,
    once: true,
  });
}

type Ours = (seconds: number, connections: number) => Promise<Load>;

interface PayShop {
  facilitator: { FACILITATOR_URL: string };
  /** Web and worker. */
  processes: BenchProcess[];
  ours: Ours;
}

export async function openPayShop(system: System): Promise<PayShop> {
  const { accountId } = await buildMerchant(system.db);
  const { facilitator, web, worker } = await system.startAll();
  const ours: Ours = async (seconds, connections) => ({
    url: web.url,
    requests: await signedForSessions(system.db, accountId, seconds * MOST_PER_SECOND),
    connections,
    seconds,
    once: true,
  });
  return { facilitator, processes: [web, worker], ours };
}
