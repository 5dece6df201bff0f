import type { Knex } from '../../shared/db/knex.js';
import { answer, hang, type Receiver, startReceiver } from '../world/receiver/receiver.js';
import type { Row } from './benchmark.js';
import type { BenchServices } from './services.js';
import { openShop, percentile, type Shop, until } from './shop.js';
import { openStage } from './stage/service.js';

const COMPLETED = 'checkout.session.completed';
const EXPIRED = 'checkout.session.expired';
const AT_ONCE = 10;

/**
 * One endpoint that hangs, with a thousand deliveries due, and a healthy one of the same account with five hundred, by
 * one worker process. From the commit of an event to its receipt, for the healthy one.
 */
export async function webhookIsolation(services: BenchServices): Promise<Row[]> {
  const stage = await openStage(services);
  const shop = await openShop(stage);
  const [dead, healthy] = [await startReceiver(), await startReceiver()];
  dead.react(hang);
  healthy.react(answer(200, 'ok'));
  await shop.addEndpoint(dead.url);
  await shop.addEndpoint(healthy.url, [COMPLETED]);
  await stage.startWorker();
  await shop.tell(EXPIRED, 500);
  const rows = [
    await measure('500 events, ten at a time', stage.db, dead, healthy, () => oneByOne(shop)),
    await measure('500 events in one transaction', stage.db, dead, healthy, () => together(shop)),
  ];
  await Promise.all([dead.close(), healthy.close(), shop.close()]);
  await stage.close();
  return rows;
}

type Told = Map<string, number>;

async function oneByOne(shop: Shop): Promise<Told> {
  const told: Told = new Map();
  const write = async (): Promise<void> => {
    while (told.size < 500) {
      const began = performance.now();
      const [id = ''] = await shop.tell(COMPLETED, 1);
      told.set(id, began);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, write));
  return told;
}

async function together(shop: Shop): Promise<Told> {
  const began = performance.now();
  return new Map((await shop.tell(COMPLETED, 500)).map((id) => [id, began]));
}

/** The time runs from before the event's transaction began. */
async function measure(
  what: string,
  db: Knex,
  dead: Receiver,
  healthy: Receiver,
  tell: () => Promise<Told>,
): Promise<Row> {
  const told = await tell();
  const receivedAt = (): Told =>
    new Map(healthy.got.map(({ headers, at }) => [String(headers['webhook-id']), at] as const));
  await until(() => {
    const received = receivedAt();
    return [...told.keys()].every((id) => received.has(id));
  });
  const received = receivedAt();
  const delays = [...told].map(([id, began]) => (received.get(id) ?? Number.NaN) - began);
  const { rows } = await db.raw<{ rows: { due: number }[] }>(
    'SELECT count(*)::int AS due FROM webhook_deliveries WHERE due_at IS NOT NULL',
  );
  return {
    what,
    delivered: delays.length,
    'p50 ms': percentile(delays, 0.5),
    'p95 ms': percentile(delays, 0.95),
    'max ms': percentile(delays, 1),
    'due to the one that hangs': rows[0]?.due ?? 0,
    'tries at it': dead.got.length,
  };
}
