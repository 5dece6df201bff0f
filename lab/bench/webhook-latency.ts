import { answer, startReceiver } from '../world/receiver/receiver.js';
import type { Row } from './benchmark.js';
import type { BenchServices } from './services.js';
import { openShop, percentile, until } from './shop.js';
import { openStage } from './stage/service.js';

const EVENTS = 200;

/** How soon a single event arrives while nothing else is due, by one worker process. */
export async function webhookLatency(services: BenchServices): Promise<Row[]> {
  const stage = await openStage(services);
  const shop = await openShop(stage);
  const receiver = await startReceiver();
  receiver.react(answer(200, 'ok'));
  await stage.startWorker();
  await shop.addEndpoint(receiver.url);
  const delays: number[] = [];
  for (let n = 1; n <= EVENTS; n += 1) {
    const began = performance.now();
    await shop.tell('checkout.session.completed', 1);
    await until(() => receiver.got.length === n);
    delays.push((receiver.got.at(-1)?.at ?? 0) - began);
  }
  await receiver.close();
  await shop.close();
  await stage.close();
  return [
    {
      what: 'a single event, from before its transaction to its receipt',
      'p50 ms': percentile(delays, 0.5),
      'p95 ms': percentile(delays, 0.95),
      'max ms': percentile(delays, 1),
    },
  ];
}
