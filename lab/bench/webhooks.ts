import { request } from 'undici';
import type { Knex } from '../../shared/db/knex.js';
import { Event, WebhookDelivery } from '../../shared/webhooks/model.js';
import { renderEvent } from '../../shared/webhooks/present.js';
import { compareRates, medianRound, type Pair, ROUNDS } from './load/compare.js';
import type { Row } from './report/benchmark.js';
import type { BenchProcess } from './system/server-process.js';
import { openShop, type Shop, until } from './system/shop.js';
import type { System } from './system/system.js';

const COMPLETED = 'checkout.session.completed';
const DELIVERIES = 5_000;
const ENDPOINTS = 10;
/**
 * The baseline's deliveries in flight to one endpoint; more make it no faster. The service starts with as many, and
 * allows up to MOST_SLOTS.
 */
const IN_FLIGHT = 10;

/**
 * Deliveries per second of one worker process, from the commit of their events until each is received and recorded,
 * against a process that posts equal bodies to the same receiver and does one UPDATE for each.
 */
export async function webhooks(system: System): Promise<Row[]> {
  const shop = await openShop(system);
  try {
    const [receiver, bare] = await Promise.all([
      system.startBaseline('receiver'),
      system.startBaseline('post-webhooks'),
      system.startWorker(),
    ]);
    const measure = async (endpoints: number, goal: number): Promise<Row> => {
      const ours = (count: number) => deliver(system.db, shop, receiver, count, endpoints);
      const baseline = async (count: number): Promise<number> =>
        await post(bare, {
          count,
          inFlight: IN_FLIGHT * endpoints,
          url: receiver.url,
          body: await anyBody(system.db),
        });
      const rates: Pair<number>[] = [];
      await ours(DELIVERIES);
      await baseline(DELIVERIES);
      // Autovacuum analyzes within a minute: until then Postgres plans for empty tables.
      await system.db.raw('ANALYZE');
      for (let round = 0; round < ROUNDS; round += 1) {
        rates.push({ ours: await ours(DELIVERIES), baseline: await baseline(DELIVERIES) });
      }
      const figure = `webhooks, ${endpoints} endpoint${endpoints === 1 ? '' : 's'}`;
      return compareRates(figure, medianRound(rates, Number), goal);
    };
    await shop.addEndpoint(`${receiver.url}/1`);
    const toOne = await measure(1, 1);
    for (let n = 2; n <= ENDPOINTS; n += 1) await shop.addEndpoint(`${receiver.url}/${n}`);
    return [toOne, await measure(ENDPOINTS, 1)];
  } finally {
    await shop.close();
  }
}

/** Deliveries per second. */
async function deliver(
  db: Knex,
  shop: Shop,
  receiver: BenchProcess,
  count: number,
  endpoints: number,
): Promise<number> {
  const expected = (await received(receiver)) + count;
  await shop.recordEvents(COMPLETED, count / endpoints);
  const began = performance.now();
  await until(async () => (await received(receiver)) >= expected);
  await until(async () => {
    const pending = WebhookDelivery.query(db).where('status', 'pending').select('id');
    return (await pending.first()) === undefined;
  });
  return (count / (performance.now() - began)) * 1000;
}

async function received({ url }: BenchProcess): Promise<number> {
  const { body } = await request(url);
  return JSON.parse(await body.text()).received;
}

/** An order for the baseline. */
interface PostOrder {
  count: number;
  inFlight: number;
  url: string;
  body: string;
}

/** Deliveries per second. */
async function post({ url }: BenchProcess, order: PostOrder): Promise<number> {
  const { body } = await request(url, { method: 'POST', body: JSON.stringify(order), headersTimeout: 0 });
  return (order.count / JSON.parse(await body.text()).ms) * 1000;
}

async function anyBody(db: Knex): Promise<string> {
  const event = await Event.query(db).first().throwIfNotFound();
  return renderEvent({ ...event, objectText: JSON.stringify(event.object) });
}
