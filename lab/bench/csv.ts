import { setTimeout as sleep } from 'node:timers/promises';
import { createApiKey } from '../../shared/accounts/api-keys.js';
import { seedInBulk } from './growth/bulk.js';
import { BIG_ACCOUNT } from './growth/seed.js';
import type { Row } from './report/benchmark.js';
import { round } from './report/statistics.js';
import type { BenchProcess } from './system/server-process.js';
import type { System } from './system/system.js';

const PAYMENTS = 1_000_000;
const HEAP_MIB = 64;
const GOAL = 1.25;
const LOOK_EVERY_MS = 50;

/**
 * Exports a year with a million payments as CSV from a web process with a small heap; compares the resident memory
 * during the first and the last tenth.
 */
export async function csv(system: System): Promise<Row[]> {
  const others = { accounts: 1, deliveries: 1, idempotencyRecords: 1 };
  const counts = { sessions: PAYMENTS, payments: PAYMENTS, ...others };
  await seedInBulk(system.config.database, counts);
  const mine = { accountId: BIG_ACCOUNT, livemode: false, name: 'Bench' };
  const { secret } = await createApiKey(system.db, mine);
  const web = await system.startWeb({ NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` });
  const { lines, bytes, seconds, peaks } = await readAll(web, secret);
  const ratio = (peaks.at(-1) ?? 0) / (peaks[0] ?? 0);
  return [
    {
      figure: 'csv',
      lines,
      MB: Math.round(bytes / 1e6),
      seconds: round(seconds),
      'peak MiB': Math.round(Math.max(...peaks)),
      'of the first tenth': Math.round(peaks[0] ?? 0),
      'of the last tenth': Math.round(peaks.at(-1) ?? 0),
      ratio: round(ratio),
      goal: `≤ ${GOAL}`,
      met: ratio <= GOAL && lines === PAYMENTS ? 'yes' : 'no',
    },
  ];
}

interface Read {
  lines: number;
  bytes: number;
  seconds: number;
  /** The highest resident memory, in MiB, during each tenth. */
  peaks: number[];
}

/** Counts the bytes and keeps none. */
async function readAll(web: BenchProcess, key: string): Promise<Read> {
  let [lines, bytes, isOver] = [-1, 0, false];
  const peaks: number[] = Array(10).fill(0);
  const watch = async (): Promise<void> => {
    while (!isOver) {
      const tenth = Math.min(9, Math.floor((Math.max(0, lines) * 10) / PAYMENTS));
      peaks[tenth] = Math.max(peaks[tenth] ?? 0, await web.residentMiB());
      await sleep(LOOK_EVERY_MS);
    }
  };
  const watching = watch();
  const startedAt = performance.now();
  const headers = { authorization: `Bearer ${key}`, accept: 'text/csv' };
  const { body, status } = await fetch(`${web.url}/v1/payments`, { headers });
  if (status !== 200 || body === null) throw new Error(`the table was answered with ${status}`);
  for await (const chunk of body) {
    bytes += chunk.length;
    for (const byte of chunk) if (byte === 10) lines += 1;
  }
  const seconds = (performance.now() - startedAt) / 1000;
  isOver = true;
  await watching;
  return { lines, bytes, seconds, peaks };
}
