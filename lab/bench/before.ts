import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { buildMerchant, buildSessions } from '../world/shop/factories.js';
import { signedForSessions } from './load/signed-payments.js';
import { type Load, runLoad } from './load/wrk.js';
import type { Row } from './report/benchmark.js';
import { median, round } from './report/statistics.js';
import { postmaster } from './system/postmaster.js';
import type { BenchProcess } from './system/server-process.js';
import { startBenchServices } from './system/services.js';
import { openSystem } from './system/system.js';

const ROUNDS = 12;
const WARM_UP_ROUNDS = 3;
const SECONDS = 2;
const CONNECTIONS = 50;
/** More sessions than are paid in a second. */
const TO_PAY_PER_SECOND = 1500;

/** One of two versions of the service, with stores, web and worker of its own. */
interface Version {
  loads: Record<'retrieve' | 'link-402' | 'pay', () => Promise<Load>>;
  parts: Record<'web' | 'worker' | 'postgres', Pick<BenchProcess, 'cpuMs'>>;
  close(): Promise<void>;
}

/** A round's rate, and milliseconds of processor for each request. */
type Figures = Record<'perSecond' | keyof Version['parts'], number>;

/**
 * `npm run bench -- before <folder>`: this checkout against the one in the folder, with its packages installed, as of an
 * earlier commit. Short rounds in turn, and ratios of pairs, show a change of a tenth where the machine's speed changes by half
 * within a run.
 */
export async function compareWithBefore(folder: string): Promise<Row[]> {
  await promisify(execFile)('npm', ['run', 'build'], { cwd: folder });
  const [today, before] = [await openVersion(), await openVersion(folder)];
  try {
    const rows: Row[] = [];
    for (const name of ['retrieve', 'link-402', 'pay'] as const) {
      const pairs: [Figures, Figures][] = [];
      for (let n = 0; n < WARM_UP_ROUNDS + ROUNDS; n += 1) {
        // The order alternates: work that a round leaves behind takes processor time of the next.
        const early = n % 2 === 0 ? await measure(before, name) : undefined;
        const ours = await measure(today, name);
        const theirs = early ?? (await measure(before, name));
        if (n >= WARM_UP_ROUNDS) pairs.push([ours, theirs]);
      }
      const ratio = (of: keyof Figures): number => round(median(pairs.map(([a, b]) => a[of] / b[of])));
      rows.push({
        figure: name,
        'today /s': Math.round(median(pairs.map(([a]) => a.perSecond))),
        'before /s': Math.round(median(pairs.map(([, b]) => b.perSecond))),
        'ratio /s': ratio('perSecond'),
        'ratio web ms': ratio('web'),
        ...(name === 'pay' && { 'ratio worker ms': ratio('worker') }),
        'ratio postgres ms': ratio('postgres'),
      });
    }
    return rows;
  } finally {
    await Promise.all([today.close(), before.close()]);
  }
}

async function openVersion(folder?: string): Promise<Version> {
  const services = await startBenchServices();
  const system = await openSystem(services, folder);
  const { accountId, testKey } = await buildMerchant(system.db);
  const { web, worker } = await system.startAll();
  const sessions = await buildSessions(system.db, accountId, 2000);
  const headers = { Authorization: `Bearer ${testKey}` };
  const load = { url: web.url, connections: CONNECTIONS, seconds: SECONDS };
  const retrieve = sessions.map(({ id }) => ({ path: `/v1/checkout/sessions/${id}`, headers }));
  const ask = sessions.map(({ id }) => ({ path: `/c/${id}` }));
  return {
    loads: {
      retrieve: async () => ({ ...load, requests: retrieve }),
      'link-402': async () => ({ ...load, requests: ask, expects: 'refusal' }),
      async pay() {
        const requests = await signedForSessions(system.db, accountId, SECONDS * TO_PAY_PER_SECOND);
        return { ...load, requests, once: true };
      },
    },
    parts: { web, worker, postgres: await postmaster(system.db) },
    async close() {
      await system.close();
      await services.stop();
    },
  };
}

async function measure({ loads, parts }: Version, name: keyof Version['loads']): Promise<Figures> {
  const load = await loads[name]();
  const before = await cpuMs(parts);
  const { sent, perSecond } = await runLoad(load);
  const after = await cpuMs(parts);
  const each = (part: keyof Version['parts']): number => (after[part] - before[part]) / sent;
  return { perSecond, web: each('web'), worker: each('worker'), postgres: each('postgres') };
}

async function cpuMs({ web, worker, postgres }: Version['parts']): Promise<Omit<Figures, 'perSecond'>> {
  return { web: await web.cpuMs(), worker: await worker.cpuMs(), postgres: await postgres.cpuMs() };
}
