import { answer, hang, type Receiver, startReceiver } from '../world/receiver/receiver.js';
import { delayColumns, deliveryDelay } from './load/delivery-delay.js';
import type { Row } from './report/benchmark.js';
import { openShop, type Shop, until } from './system/shop.js';
import type { System } from './system/system.js';

const COMPLETED = 'checkout.session.completed';
const ENDPOINTS = 1000;
const HOSTS = 20;
/** Longer than two rounds of hanging attempts. */
const MEASURED_MS = 30_000;
const PAUSE_MS = 50;

/**
 * The delivery time of a single event of one account, on one worker process: alone, and beside another account with a
 * thousand endpoints that hang and an event for all of them every second.
 */
export async function webhookNeighbours(system: System): Promise<Row[]> {
  const [calm, neighbour] = [await openShop(system), await openShop(system)];
  const receiver = await startReceiver();
  receiver.react(answer(200, 'ok'));
  await calm.addEndpoint(receiver.url);
  await system.startWorker();
  await measure('at first', calm, receiver, 3000);
  const alone = await measure('alone', calm, receiver, MEASURED_MS);
  const dead = await Promise.all(Array.from({ length: HOSTS }, () => startReceiver()));
  for (const one of dead) one.react(hang);
  for (let n = 0; n < ENDPOINTS; n += 1) await neighbour.addEndpoint(`${dead[n % HOSTS]?.url}/${n}`);
  await neighbour.recordEvents(COMPLETED, 3);
  await until(() => dead.some(({ got }) => got.length > 0));
  const recording = setInterval(() => void neighbour.recordEvents(COMPLETED, 1), 1000);
  const beside = await measure('beside 1,000 endpoints that hang', calm, receiver, MEASURED_MS);
  clearInterval(recording);
  await Promise.all([receiver, ...dead].map((one) => one.close()));
  await Promise.all([calm.close(), neighbour.close()]);
  return [alone, beside];
}

async function measure(what: string, shop: Shop, receiver: Receiver, forMs: number): Promise<Row> {
  const delays: number[] = [];
  for (const endsAt = performance.now() + forMs; performance.now() < endsAt; ) {
    delays.push(await deliveryDelay(shop, receiver));
    await new Promise((done) => setTimeout(done, PAUSE_MS));
  }
  return {
    what,
    events: delays.length,
    ...delayColumns(delays),
  };
}
