import { answer, hang, type Receiver, startReceiver } from '../test/support/receiver.js';
import { type Bench, openBench, percentile, until } from './checkout-data.js';
import type { Row } from './main.js';
import type { BenchServices } from './services.js';

const COMPLETED = 'checkout.session.completed';
const EXPIRED = 'checkout.session.expired';
const AT_ONCE = 10;

/**
 * One endpoint that hangs, with a thousand deliveries due, and a healthy one of the same account with five hundred, by
 * one worker process. From the commit of an event to its receipt, for the healthy one.
 */
export async function webhookIsolation(services: BenchServices): Promise<Row[]> {
  const bench = await openBench(services);
  const [dead, healthy] = [await startReceiver(), await startReceiver()];
  dead.react(hang);
  healthy.react(answer(200, 'ok'));
  await bench.addEndpoint(dead.url);
  await bench.addEndpoint(healthy.url, [COMPLETED]);
  await bench.startWorker();
  await bench.tell(EXPIRED, 500);
  const rows = [
    await measure('500 events, ten at a time', bench, dead, healthy, () => oneByOne(bench)),
    await measure('500 events in one transaction', bench, dead, healthy, () => together(bench)),
  ];
  await Promise.all([dead.close(), healthy.close(), bench.close()]);
  return rows;
}

type Told = Map<string, number>;

async function oneByOne(bench: Bench): Promise<Told> {
  const told: Told = new Map();
  const write = async (): Promise<void> => {
    while (told.size < 500) {
      const began = performance.now();
      const [id = ''] = await bench.tell(COMPLETED, 1);
      told.set(id, began);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, write));
  return told;
}

async function together(bench: Bench): Promise<Told> {
  const began = performance.now();
  return new Map((await bench.tell(COMPLETED, 500)).map((id) => [id, began]));
}

/** The time runs from before the event's transaction began. */
async function measure(
  what: string,
  bench: Bench,
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
  const { rows } = await bench.db.raw<{ rows: { due: number }[] }>(
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
