import { startPgBouncer } from '../world/processes/pgbouncer.js';
import { buildMerchant } from '../world/shop/factories.js';
import { median, round } from './load/race.js';
import { type Measured, runLoad } from './load/wrk.js';
import { MOST_PER_SECOND, signedForSessions } from './pay.js';
import type { Row } from './report/benchmark.js';
import type { BenchProcess } from './system/server-process.js';
import type { BenchServices } from './system/services.js';
import { openSystem } from './system/system.js';

const ROUNDS = 3;
const SECONDS = 5;
const CONNECTIONS = 48;

/** Payments by one web and one worker process, and by four of each, on one Postgres behind PgBouncer. */
export async function scaling(services: BenchServices): Promise<Row[]> {
  const system = await openSystem(services);
  const pooler = await startPgBouncer(services.databaseUrl);
  try {
    const { accountId } = await buildMerchant(system.db);
    const settings = {
      FACILITATOR_URL: (await system.startBaseline('facilitator')).url,
      DATABASE_URL: pooler.url,
      // Debian's PgBouncer is older than 1.21.
      DATABASE_PREPARED_STATEMENTS: 'false',
    };
    const webs: BenchProcess[] = [];
    const workers: BenchProcess[] = [];
    const payOnce = async (): Promise<Pick<Measured, 'perSecond' | 'p50Ms'>> => {
      const share = MOST_PER_SECOND / webs.length;
      const loads = await Promise.all(
        webs.map(async ({ url }) => ({
          url,
          requests: await signedForSessions(system.db, accountId, SECONDS * share),
          connections: CONNECTIONS / webs.length,
          seconds: SECONDS,
          expects: 'success' as const,
          once: true,
        })),
      );
      const runs = await Promise.all(loads.map(runLoad));
      return {
        perSecond: runs.reduce((sum, { perSecond }) => sum + perSecond, 0),
        p50Ms: median(runs.map(({ p50Ms }) => p50Ms)),
      };
    };
    const rows: Row[] = [];
    for (const count of [1, 4]) {
      while (webs.length < count) {
        webs.push(await system.startWeb(settings));
        workers.push(await system.startWorker(settings));
      }
      await payOnce();
      const rounds = [];
      for (let n = 0; n < ROUNDS; n += 1) rounds.push(await payOnce());
      rows.push({
        figure: `scaling, ${webs.length} web and ${workers.length} worker`,
        'payments a second': Math.round(median(rounds.map(({ perSecond }) => perSecond))),
        'p50 ms': round(median(rounds.map(({ p50Ms }) => p50Ms))),
      });
    }
    return rows;
  } finally {
    await system.close();
    await pooler.stop();
  }
}
