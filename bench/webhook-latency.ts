import { answer, startReceiver } from '../test/support/receiver.js';
import { openBench, percentile, until } from './checkout-data.js';
import type { Row } from './main.js';
import type { BenchServices } from './services.js';

const COMPLETED = 'checkout.session.completed';
const SINGLE_EVENTS = 200;
const MANY = 2000;
const ENDPOINTS = 10;

/** How soon a single event arrives, and how many deliveries one worker process makes in a second. */
export async function webhookSpeed(services: BenchServices): Promise<Row[]> {
  const bench = await openBench(services);
  const receiver = await startReceiver();
  receiver.react(answer(200, 'ok'));
  await bench.startWorker();
  await bench.addEndpoint(receiver.url);
  const delays: number[] = [];
  for (let n = 1; n <= SINGLE_EVENTS; n += 1) {
    const began = performance.now();
    await bench.tell(COMPLETED, 1);
    await until(() => receiver.got.length === n);
    delays.push((receiver.got.at(-1)?.at ?? 0) - began);
  }
  const single = {
    what: 'a single event, from before its transaction to its receipt',
    'p50 ms': percentile(delays, 0.5),
    'p95 ms': percentile(delays, 0.95),
    'max ms': percentile(delays, 1),
  };

  const perSecond = async (expected: number): Promise<number> => {
    const before = receiver.got.length;
    const began = performance.now();
    for (let told = 0; told < MANY; told += 500) await bench.tell(COMPLETED, 500);
    await until(() => receiver.got.length === before + expected);
    return Math.round((expected / (performance.now() - began)) * 1000);
  };
  const toOne = await perSecond(MANY);
  for (let n = 1; n < ENDPOINTS; n += 1) await bench.addEndpoint(receiver.url);
  const toTen = await perSecond(MANY * ENDPOINTS);
  await Promise.all([receiver.close(), bench.close()]);
  return [
    single,
    { what: `${MANY} deliveries to one endpoint that answers at once`, 'per second': toOne },
    { what: `${MANY * ENDPOINTS} deliveries to ${ENDPOINTS} such endpoints`, 'per second': toTen },
  ];
}
