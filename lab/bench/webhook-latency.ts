import { answer, startReceiver } from '../world/receiver/receiver.js';
import { delayColumns, deliveryDelay } from './load/delivery-delay.js';
import type { Row } from './report/benchmark.js';
import { openShop } from './system/shop.js';
import type { System } from './system/system.js';

const EVENTS = 200;

/** The delivery time of a single event while nothing else is due, on one worker process. */
export async function webhookLatency(system: System): Promise<Row[]> {
  const shop = await openShop(system);
  const receiver = await startReceiver();
  receiver.react(answer(200, 'ok'));
  await system.startWorker();
  await shop.addEndpoint(receiver.url);
  const delays: number[] = [];
  for (let n = 1; n <= EVENTS; n += 1) delays.push(await deliveryDelay(shop, receiver));
  await receiver.close();
  await shop.close();
  return [
    {
      what: 'a single event, from before its transaction to its receipt',
      ...delayColumns(delays),
    },
  ];
}
