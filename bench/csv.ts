import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../shared/clock.js';
import { createApiKey } from '../shared/services/access/api-keys.js';
import type { Row } from './benchmark.js';
import { seedInBulk } from './growth/bulk.js';
import { BIG_ACCOUNT } from './growth/seed.js';
import { round } from './race.js';
import type { BenchServices } from './services.js';
import type { BenchProcess } from './stage/server-process.js';
import { openStage } from './stage/service.js';

const PAYMENTS = 1_000_000;
const GOAL = 1.5;
const MOST_MIB = 250;
const HUNDREDTH_OF_A_YEAR_SECONDS = 3.65 * 24 * 3600;
const LOOK_EVERY_MS = 50;

/** A year of a million payments as CSV, against a hundredth of it: what the web process holds at most meanwhile. */
export async function csv(services: BenchServices): Promise<Row[]> {
  const stage = await openStage(services);
  try {
    const counts = { sessions: PAYMENTS, payments: PAYMENTS };
    const others = { accounts: 1, deliveries: 1, idempotencyRecords: 1 };
    await seedInBulk(stage.config.database, { ...counts, ...others }, (line) =>
      process.stdout.write(`${line}\n`),
    );
    const { secret } = await createApiKey(stage.db, {
      accountId: BIG_ACCOUNT,
      livemode: false,
      name: 'Bench',
    });
    const web = await stage.startWeb();
    const since = Math.floor(nowMs() / 1000 - HUNDREDTH_OF_A_YEAR_SECONDS);
    // The first one warms it up.
    await readAll(web, secret, `?created[gte]=${since}`);
    const part = await readAll(web, secret, `?created[gte]=${since}`);
    const whole = await readAll(web, secret, '');
    const ratio = whole.peakMiB / part.peakMiB;
    return [
      {
        figure: 'csv',
        lines: whole.lines,
        'lines of a hundredth': part.lines,
        MB: Math.round(whole.bytes / 1e6),
        seconds: round(whole.seconds),
        'peak MiB': Math.round(whole.peakMiB),
        'peak MiB of a hundredth': Math.round(part.peakMiB),
        ratio: round(ratio),
        goal: `≤ ${GOAL} and ${MOST_MIB} MiB`,
        met: ratio <= GOAL && whole.peakMiB <= MOST_MIB ? 'yes' : 'no',
      },
    ];
  } finally {
    await stage.close();
  }
}

interface Read {
  lines: number;
  bytes: number;
  seconds: number;
  peakMiB: number;
}

/** Counts what comes, and keeps nothing of it. */
async function readAll(web: BenchProcess, key: string, query: string): Promise<Read> {
  let [lines, bytes, peakMiB, isOver] = [0, 0, 0, false];
  const watch = async (): Promise<void> => {
    while (!isOver) {
      peakMiB = Math.max(peakMiB, await web.residentMiB());
      await sleep(LOOK_EVERY_MS);
    }
  };
  const watching = watch();
  const startedAt = performance.now();
  const headers = { authorization: `Bearer ${key}`, accept: 'text/csv' };
  const { body, status } = await fetch(`${web.url}/v1/payments${query}`, { headers });
  if (status !== 200 || body === null) throw new Error(`the table was answered with ${status}`);
  for await (const chunk of body) {
    bytes += chunk.length;
    for (const byte of chunk) if (byte === 10) lines += 1;
  }
  const seconds = (performance.now() - startedAt) / 1000;
  isOver = true;
  await watching;
  // Less that of names.
  return { lines: lines - 1, bytes, seconds, peakMiB };
}
