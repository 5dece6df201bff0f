import type { Knex } from '../../shared/db/knex.js';
import { answer, hang, type Receiver, startReceiver } from '../world/receiver/receiver.js';
import { delayColumns } from './load/delivery-delay.js';
import type { Row } from './report/benchmark.js';
import { openShop, type Shop, until } from './system/shop.js';
import type { System } from './system/system.js';

const COMPLETED = 'checkout.session.completed';
const EXPIRED = 'checkout.session.expired';
const AT_ONCE = 10;

/**
 * Gives one worker process an endpoint that hangs, with a thousand due deliveries, and a healthy endpoint of the same account
 * with five hundred. Measures the time from an event's commit to its receipt at the healthy endpoint.
 */
export async function webhookIsolation(system: System): Promise<Row[]> {
  const shop = await openShop(system);
  const [dead, healthy] = [await startReceiver(), await startReceiver()];
  dead.react(hang);
  healthy.react(answer(200, 'ok'));
  await shop.addEndpoint(dead.url);
  await shop.addEndpoint(healthy.url, [COMPLETED]);
  await system.startWorker();
  await shop.recordEvents(EXPIRED, 500);
  const rows = [
    await measure('500 events, ten at a time', system.db, dead, healthy, () => oneByOne(shop)),
    await measure('500 events in one transaction', system.db, dead, healthy, () => together(shop)),
  ];
  await Promise.all([dead.close(), healthy.close(), shop.close()]);
  return rows;
}

type Sent = Map<string, number>;

async function oneByOne(shop: Shop): Promise<Sent> {
  const sent: Sent = new Map();
  const write = async (): Promise<void> => {
    while (sent.size < 500) {
      const began = performance.now();
      const [id = ''] = await shop.recordEvents(COMPLETED, 1);
      sent.set(id, began);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, write));
  return sent;
}

async function together(shop: Shop): Promise<Sent> {
  const began = performance.now();
  return new Map((await shop.recordEvents(COMPLETED, 500)).map((id) => [id, began]));
}

/** The time runs from before the event's transaction began. */
async function measure(
  what: string,
  db: Knex,
  dead: Receiver,
  healthy: Receiver,
  record: () => Promise<Sent>,
): Promise<Row> {
  const sent = await record();
  const receivedAt = (): Sent =>
    new Map(healthy.got.map(({ headers, at }) => [String(headers['webhook-id']), at] as const));
  await until(() => {
    const received = receivedAt();
    return [...sent.keys()].every((id) => received.has(id));
  });
  const received = receivedAt();
  const delays = [...sent].map(([id, began]) => (received.get(id) ?? Number.NaN) - began);
  const { rows } = await db.raw<{ rows: { due: number }[] }>(
    'SELECT count(*)::int AS due FROM webhook_deliveries WHERE due_at IS NOT NULL',
  );
  return {
    what,
    delivered: delays.length,
    ...delayColumns(delays),
    'due to the one that hangs': rows[0]?.due ?? 0,
    'tries at it': dead.got.length,
  };
}
