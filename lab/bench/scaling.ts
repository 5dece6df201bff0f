import { Redis } from 'ioredis';
import { buildMerchant } from '../world/shop/factories.js';
import { MOST_PER_SECOND, signedForSessions } from './load/signed-payments.js';
import { type Parts, usageOfOne } from './load/usage.js';
import { type Load, runLoad } from './load/wrk.js';
import type { Row } from './report/benchmark.js';
import { median, round } from './report/statistics.js';
import { postmaster } from './system/postmaster.js';
import { halveProcessors, pinTo } from './system/processors.js';
import type { BenchProcess } from './system/server-process.js';
import type { System } from './system/system.js';

const COUNTS = [1, 2, 4];
const ROUNDS = 5;
const SECONDS = 5;
/** Connections to each web process: its batches are then as large as with processors of its own. */
const CONNECTIONS_EACH = 24;

/**
 * Payments by one web and one worker process, by two and by four of each, with the same load for each web process. These
 * processes have one half of the machine's processors; the stores, the facilitator and the load have the other half. While a
 * payment's processor time in each part stays the same, more processors allow more payments in proportion.
 */
export async function scaling(system: System): Promise<Row[]> {
  const processors = halveProcessors();
  const redis = new Redis(system.services.redisUrl);
  try {
    const { accountId } = await buildMerchant(system.db);
    const postgres = await postmaster(system.db);
    for (const pid of [process.pid, postgres.pid, await pidOf(redis)]) await pinTo(processors.others, pid);
    const settings = await system.startFacilitator();
    const parts = { webs: [] as BenchProcess[], workers: [] as BenchProcess[], postgres, redis };
    const rows: Row[] = [];
    for (const count of COUNTS) {
      while (parts.webs.length < count) {
        const [web, worker] = [await system.startWeb(settings), await system.startWorker(settings)];
        for (const { pid } of [web, worker]) await pinTo(processors.service, pid);
        parts.webs.push(web);
        parts.workers.push(worker);
      }
      await payFor(system, accountId, parts);
      const rounds: Row[] = [];
      for (let n = 0; n < ROUNDS; n += 1) rounds.push(await payFor(system, accountId, parts));
      const [middle] = rounds.sort((a, b) => Number(a[RATE]) - Number(b[RATE])).slice(Math.floor(ROUNDS / 2));
      rows.push({ figure: `scaling, ${count} web and ${count} worker`, ...middle });
    }
    return rows;
  } finally {
    // The benchmarks after this one start their processes from here.
    await pinTo([...processors.service, ...processors.others], process.pid);
    redis.disconnect();
  }
}

const RATE = 'payments a second';

async function payFor(system: System, accountId: string, parts: Parts): Promise<Row> {
  const share = parts.webs.length;
  const loads = await Promise.all(
    parts.webs.map(
      async ({ url }): Promise<Load> => ({
        url,
        requests: await signedForSessions(system.db, accountId, (SECONDS * MOST_PER_SECOND) / share),
        connections: CONNECTIONS_EACH,
        seconds: SECONDS,
        once: true,
      }),
    ),
  );
  let perSecond = 0;
  let p50Ms = 0;
  const used = await usageOfOne(system, parts, async () => {
    const runs = await Promise.all(loads.map(runLoad));
    perSecond = runs.reduce((sum, run) => sum + run.perSecond, 0);
    p50Ms = median(runs.map((run) => run.p50Ms));
    return runs.reduce((sum, run) => sum + run.sent, 0);
  });
  return { [RATE]: Math.round(perSecond), 'p50 ms': round(p50Ms), ...used };
}

async function pidOf(redis: Redis): Promise<number> {
  return Number(/^process_id:(\d+)/m.exec(await redis.info('server'))?.[1]);
}
