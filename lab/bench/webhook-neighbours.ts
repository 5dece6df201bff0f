import { answer, hang, type Receiver, startReceiver } from '../world/receiver/receiver.js';
import type { Row } from './benchmark.js';
import type { BenchServices } from './services.js';
import { openShop, percentile, type Shop, until } from './shop.js';
import { openStage } from './stage/service.js';

const COMPLETED = 'checkout.session.completed';
const ENDPOINTS = 1000;
const HOSTS = 20;
/** Two rounds of tries that hang, and more. */
const MEASURED_MS = 30_000;
const PAUSE_MS = 50;

/**
 * How soon a single event of one account arrives, by one worker process: by itself, and beside another account with a
 * thousand endpoints that hang and an event for all of them every second.
 */
export async function webhookNeighbours(services: BenchServices): Promise<Row[]> {
  const stage = await openStage(services);
  const [calm, crowd] = [await openShop(stage), await openShop(stage)];
  const receiver = await startReceiver();
  receiver.react(answer(200, 'ok'));
  await calm.addEndpoint(receiver.url);
  await stage.startWorker();
  await measure('at first', calm, receiver, 3000);
  const alone = await measure('alone', calm, receiver, MEASURED_MS);
  const dead = await Promise.all(Array.from({ length: HOSTS }, () => startReceiver()));
  for (const one of dead) one.react(hang);
  for (let n = 0; n < ENDPOINTS; n += 1) await crowd.addEndpoint(`${dead[n % HOSTS]?.url}/${n}`);
  await crowd.tell(COMPLETED, 3);
  await until(() => dead.some(({ got }) => got.length > 0));
  const telling = setInterval(() => void crowd.tell(COMPLETED, 1), 1000);
  const beside = await measure('beside 1,000 endpoints that hang', calm, receiver, MEASURED_MS);
  clearInterval(telling);
  await Promise.all([receiver, ...dead].map((one) => one.close()));
  await Promise.all([calm.close(), crowd.close()]);
  await stage.close();
  return [alone, beside];
}

async function measure(what: string, shop: Shop, receiver: Receiver, forMs: number): Promise<Row> {
  const delays: number[] = [];
  for (const endsAt = performance.now() + forMs; performance.now() < endsAt; ) {
    const had = receiver.got.length;
    const began = performance.now();
    await shop.tell(COMPLETED, 1);
    await until(() => receiver.got.length > had);
    delays.push((receiver.got.at(-1)?.at ?? 0) - began);
    await new Promise((done) => setTimeout(done, PAUSE_MS));
  }
  return {
    what,
    events: delays.length,
    'p50 ms': percentile(delays, 0.5),
    'p95 ms': percentile(delays, 0.95),
    'max ms': percentile(delays, 1),
  };
}
