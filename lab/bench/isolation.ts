import { openSubject } from './growth/measure.js';
import { medians } from './growth/medians.js';
import { seedDatabase } from './growth/seed.js';
import type { Row } from './report/benchmark.js';
import { round } from './report/statistics.js';
import type { BenchServices } from './system/services.js';
import { openSystem } from './system/system.js';

const TIMES = 1000;
const GOAL = 1.2;
const COUNTS = {
  accounts: 50,
  sessions: 50_000,
  payments: 10_000,
  deliveries: 20_000,
  idempotencyRecords: 100,
};

/** Checks that the latency of a 404 does not reveal whether another account has the object. */
export async function isolation(services: BenchServices): Promise<Row[]> {
  const system = await openSystem(services);
  await seedDatabase(system.db, COUNTS);
  const { acts, close } = await openSubject({ ...services, facilitatorUrl: 'http://127.0.0.1:1' });
  try {
    const rows: Row[] = [];
    for (const object of ['session', 'cursor', 'endpoint']) {
      const pair = ['not yours', 'not there'].flatMap((which) => acts[`${object}, ${which}`] ?? []);
      const [theirs = 0, none = 0] = await medians(pair, TIMES);
      const ratio = Math.max(theirs, none) / Math.min(theirs, none);
      rows.push({
        figure: `404 of a ${object}`,
        'not yours ms': round(theirs),
        'not there ms': round(none),
        ratio: round(ratio),
        goal: `≤ ${GOAL}`,
        met: ratio <= GOAL ? 'yes' : 'no',
      });
    }
    return rows;
  } finally {
    await close();
    await system.close();
  }
}
