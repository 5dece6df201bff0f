import { openCrowdedWorld, payInCrowd } from './crowd/crowd.js';
import type { Row } from './report/benchmark.js';
import { round } from './report/statistics.js';
import { openSystem, type System } from './system/system.js';

const CROWD = { payments: 200, callsPerSecond: 10 };
const MOST_CALLS_EACH = 10;
const WITHIN_MS = 600_000;

/**
 * Paid sessions whose answers of /settle were lost, behind one endpoint that limits calls, with one worker process and with
 * more: each process has a queue of its own.
 */
export async function crowdedEndpoint({ services }: System): Promise<Row[]> {
  const rows: Row[] = [];
  for (const workers of [1, 2, 4]) rows.push(await measure(services, workers));
  return rows;
}

async function measure(services: System['services'], workers: number): Promise<Row> {
  const world = await openCrowdedWorld();
  const system = await openSystem(services);
  try {
    const web = await system.startWeb(world.environment);
    for (let n = 0; n < workers; n += 1) await system.startWorker(world.environment);
    const { told, callsEach, limited, seconds } = await payInCrowd(
      world,
      { db: system.db, webUrls: [web.url] },
      CROWD,
      WITHIN_MS,
    );
    const paid = told[200] ?? 0;
    return {
      figure: `crowded-endpoint, ${workers} worker processes`,
      payments: CROWD.payments,
      'told that they have paid': paid,
      'told otherwise': CROWD.payments - paid,
      'calls for each': round(callsEach),
      'limited calls': limited,
      seconds: round(seconds),
      goal: `all, ≤ ${MOST_CALLS_EACH} calls`,
      met: paid === CROWD.payments && callsEach <= MOST_CALLS_EACH ? 'yes' : 'no',
    };
  } finally {
    await system.close();
    await world.close();
  }
}
