import { Redis } from 'ioredis';
import { buildMerchant, buildSessions } from '../world/shop/factories.js';
import { CREATE } from './create.js';
import { signedForSessions } from './load/signed-payments.js';
import { usageOfOne } from './load/usage.js';
import { type Load, runLoad } from './load/wrk.js';
import type { Row } from './report/benchmark.js';
import { round } from './report/statistics.js';
import { postmaster } from './system/postmaster.js';
import type { BenchProcess } from './system/server-process.js';
import { until } from './system/shop.js';
import type { System } from './system/system.js';

const SECONDS = 5;
const CONNECTIONS = 50;
/** More sessions than are paid in that time. */
const TO_PAY = 10_000;
/** Processor time of a payment with its webhook, in all parts together. */
const GOAL_MS = 2.5;

/**
 * Resources per operation under load: processor time of each process, commits and bytes in Postgres, commands and bytes
 * in Redis. The basis of capacity planning.
 */
export async function cost(system: System): Promise<Row[]> {
  const redis = new Redis(system.services.redisUrl);
  try {
    const { accountId, testKey } = await buildMerchant(system.db);
    const { web, worker } = await system.startAll();
    const receiver = await system.startBaseline('receiver');
    const parts = { webs: [web], workers: [worker], postgres: await postmaster(system.db), redis };
    const measure = async (what: string, act: () => Promise<number>) => ({
      what,
      ...(await usageOfOne(system, parts, act)),
    });
    const headers = { Authorization: `Bearer ${testKey}` };
    const sessions = await buildSessions(system.db, accountId, 2000);
    const load = { url: web.url, connections: CONNECTIONS, seconds: SECONDS };
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
    const rows: Row[] = [
      await measure('a session created', () => sent(create)),
      await measure('a session retrieved', () => sent(retrieve)),
      await measure('a link asked, unpaid', () => sent(ask)),
      await measure('a payment, with no webhook endpoint', () => sent(first)),
    ];
    await addEndpoint(web, headers, receiver.url);
    const delivered = await measure('a payment, with its event delivered', async () => {
      const paid = await sent(second);
      await until(async () => (await pendingDeliveries(system)) === 0);
      return paid;
    });
    return [...rows, { ...delivered, ...withGoal(delivered) }];
  } finally {
    redis.disconnect();
  }
}

function withGoal(one: Awaited<ReturnType<typeof usageOfOne>>): Row {
  const ms = one['web ms'] + one['worker ms'] + one['postgres ms'] + one['redis ms'];
  return { 'ms in all': round(ms), goal: `≤ ${GOAL_MS} ms`, met: ms <= GOAL_MS ? 'yes' : 'no' };
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
