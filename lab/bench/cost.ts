import { Redis } from 'ioredis';
import { buildMerchant, buildSessions } from '../world/shop/factories.js';
import { CREATE } from './create.js';
import { round } from './load/race.js';
import { type Load, runLoad } from './load/wrk.js';
import { signedForSessions } from './pay.js';
import type { Row } from './report/benchmark.js';
import { postmaster } from './system/postmaster.js';
import type { BenchProcess } from './system/server-process.js';
import type { BenchServices } from './system/services.js';
import { until } from './system/shop.js';
import { openSystem, type System } from './system/system.js';

/**
 * Resources per operation under load: processor time of each process, commits and bytes in Postgres, commands and bytes
 * in Redis. The basis of capacity planning.
 */
const SECONDS = 5;
const CONNECTIONS = 50;
/** More sessions than are paid in that time. */
const TO_PAY = 10_000;

export async function cost(services: BenchServices): Promise<Row[]> {
  const system = await openSystem(services);
  const redis = new Redis(services.redisUrl);
  try {
    const { accountId, testKey } = await buildMerchant(system.db);
    const facilitator = { FACILITATOR_URL: (await system.startBaseline('facilitator')).url };
    const receiver = await system.startBaseline('receiver');
    const web = await system.startWeb(facilitator);
    const worker = await system.startWorker(facilitator);
    const parts = { web, worker, postgres: await postmaster(system.db), redis };
    const headers = { Authorization: `Bearer ${testKey}` };
    const sessions = await buildSessions(system.db, accountId, 2000);
    const load = { url: web.url, connections: CONNECTIONS, seconds: SECONDS, expects: 'success' } as const;
    const create: Load = { ...load, requests: [{ ...CREATE, headers: { ...CREATE.headers, ...headers } }] };
    const retrieve: Load = {
      ...load,
      requests: sessions.map(({ id }) => ({ path: `/v1/checkout/sessions/${id}`, headers })),
    };
    const ask: Load = {
      ...load,
      expects: 'refusal',
      requests: sessions.map(({ id }) => ({ path: `/c/${id}` })),
    };
    await runLoad({ ...create, seconds: 2 });
    const sent = async (one: Load): Promise<number> => (await runLoad(one)).sent;
    const prepareToPay = async (): Promise<Load> => ({
      ...load,
      requests: await signedForSessions(system.db, accountId, TO_PAY),
      once: true,
    });
    await sent(await prepareToPay());
    const [first, second] = [await prepareToPay(), await prepareToPay()];
    const rows = [
      await measure(system, parts, 'a session created', () => sent(create)),
      await measure(system, parts, 'a session retrieved', () => sent(retrieve)),
      await measure(system, parts, 'a link asked, unpaid', () => sent(ask)),
      await measure(system, parts, 'a payment, with no webhook endpoint', () => sent(first)),
    ];
    await addEndpoint(web, headers, receiver.url);
    rows.push(
      await measure(system, parts, 'a payment, with its event delivered', async () => {
        const paid = await sent(second);
        await until(async () => (await pendingDeliveries(system)) === 0);
        return paid;
      }),
    );
    return rows;
  } finally {
    redis.disconnect();
    await system.close();
  }
}

async function addEndpoint(web: BenchProcess, headers: Record<string, string>, url: string): Promise<void> {
  const answer = await fetch(`${web.url}/v1/webhook_endpoints`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ url }),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

async function pendingDeliveries({ db }: System): Promise<number> {
  const { rows } = await db.raw(
    `SELECT count(*)::int AS pending FROM webhook_deliveries WHERE status = 'pending'`,
  );
  return rows[0].pending;
}

interface Parts {
  web: Pick<BenchProcess, 'cpuMs'>;
  worker: Pick<BenchProcess, 'cpuMs'>;
  postgres: Pick<BenchProcess, 'cpuMs'>;
  redis: Redis;
}

async function measure(system: System, parts: Parts, what: string, act: () => Promise<number>): Promise<Row> {
  const before = await read(system, parts);
  const times = await act();
  const after = await read(system, parts);
  const each = (part: keyof typeof before): number => round((after[part] - before[part]) / times);
  return {
    what,
    'web ms': each('web'),
    'worker ms': each('worker'),
    'postgres ms': each('postgres'),
    commits: each('commits'),
    'bytes in Postgres': Math.round(each('bytes')),
    'redis ms': each('redis'),
    'redis commands': each('commands'),
    'bytes in Redis': Math.round(each('memory')),
  };
}

async function read({ db }: System, { web, worker, postgres, redis }: Parts) {
  await db.raw('SELECT pg_stat_force_next_flush()');
  const { rows } = await db.raw(`
    SELECT xact_commit::int AS commits, pg_database_size(datname) AS bytes FROM pg_stat_database
    WHERE datname = current_database()`);
  const [webMs, workerMs, postgresMs] = await Promise.all([web.cpuMs(), worker.cpuMs(), postgres.cpuMs()]);
  const info = await redis.info();
  const field = (name: string): number => Number(new RegExp(`^${name}:([0-9.]+)`, 'm').exec(info)?.[1]);
  return {
    web: webMs,
    worker: workerMs,
    postgres: postgresMs,
    redis: (field('used_cpu_sys') + field('used_cpu_user')) * 1000,
    commands: field('total_commands_processed'),
    memory: field('used_memory'),
    ...rows[0],
  };
}
