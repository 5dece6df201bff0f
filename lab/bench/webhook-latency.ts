import { answer, startReceiver } from '../world/receiver/receiver.js';
import { delayColumns, deliveryDelay } from './load/delivery-delay.js';
import type { Row } from './report/benchmark.js';
import type { BenchServices } from './system/services.js';
import { openShop } from './system/shop.js';
import { openSystem } from './system/system.js';

const EVENTS = 200;

/** The delivery time of a single event while nothing else is due, on one worker process. */
export async function webhookLatency(services: BenchServices): Promise<Row[]> {
  const system = await openSystem(services);
  const shop = await openShop(system);
  const receiver = await startReceiver();
  receiver.react(answer(200, 'ok'));
  await system.startWorker();
  await shop.addEndpoint(receiver.url);
  const delays: number[] = [];
  for (let n = 1; n <= EVENTS; n += 1) delays.push(await deliveryDelay(shop, receiver));
  await receiver.close();
  await shop.close();
  await system.close();
  return [
    {
      what: 'a single event, from before its transaction to its receipt',
      ...delayColumns(delays),
    },
  ];
}
