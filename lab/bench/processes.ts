import { buildMerchant, buildSessions } from '../world/shop/factories.js';
import { runLoad } from './load/wrk.js';
import type { Row } from './report/benchmark.js';
import { median, ratioAtMost, round } from './report/statistics.js';
import type { System } from './system/system.js';

const STARTS = 5;
const WORKED_SECONDS = 10;
const ROUNDS = 3;
const MOST_MIB = { web: 150, worker: 110 };
const START_GOAL = 3;

/** Measures the time from the start of a web process to its first answer that needed Postgres. */
export async function start(system: System): Promise<Row[]> {
  const ours: number[] = [];
  const baseline: number[] = [];
  for (let n = 0; n < STARTS; n += 1) {
    const web = await system.startWeb();
    ours.push(web.startMs);
    await web.stop();
    const bare = await system.startBaseline('select');
    baseline.push(bare.startMs);
    await bare.stop();
  }
  const ratio = median(ours) / median(baseline);
  return [
    {
      figure: 'start',
      'ours ms': Math.round(median(ours)),
      'baseline ms': Math.round(median(baseline)),
      ...ratioAtMost(ratio, START_GOAL),
    },
  ];
}

/** The memory of processes after full load. */
export async function memory(system: System): Promise<Row[]> {
  const { accountId, testKey } = await buildMerchant(system.db);
  const sessions = await buildSessions(system.db, accountId, 2000);
  const headers = { Authorization: `Bearer ${testKey}` };
  const { web, worker } = await system.startAll();
  const bare = await system.startBaseline('select');
  for (let n = 0; n < ROUNDS; n += 1) {
    const load = { connections: 50, seconds: WORKED_SECONDS } as const;
    const own = sessions.map(({ id }) => ({ path: `/v1/checkout/sessions/${id}`, headers }));
    const links = sessions.map(({ id }) => ({ path: `/c/${id}` }));
    const plain = sessions.map(({ id }) => ({ path: `/${id}` }));
    await runLoad({ ...load, url: web.url, requests: own });
    await runLoad({ ...load, url: web.url, requests: links, expects: 'refusal' });
    await runLoad({ ...load, url: bare.url, requests: plain });
  }
  const baselineMiB = await bare.residentMiB();
  const rows: Row[] = [];
  for (const [name, process] of [
    ['web', web],
    ['worker', worker],
  ] as const) {
    const oursMiB = await process.residentMiB();
    const ratio = oursMiB / baselineMiB;
    rows.push({
      figure: `memory, ${name}`,
      'ours MiB': Math.round(oursMiB),
      'baseline MiB': Math.round(baselineMiB),
      ratio: round(ratio),
      goal: `≤ ${MOST_MIB[name]} MiB`,
      met: oursMiB <= MOST_MIB[name] ? 'yes' : 'no',
    });
  }
  return rows;
}
