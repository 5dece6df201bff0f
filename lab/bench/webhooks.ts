import { request } from 'undici';
import type { Knex } from '../../shared/db/knex.js';
import { Event, WebhookDelivery } from '../../shared/webhooks/model.js';
import { renderEvent } from '../../shared/webhooks/present.js';
import type { Row } from './benchmark.js';
import { compareRates, middle, type Pair, ROUNDS } from './race.js';
import type { BenchServices } from './services.js';
import { openShop, type Shop, until } from './shop.js';
import type { BenchProcess } from './stage/server-process.js';
import { openStage } from './stage/service.js';

const COMPLETED = 'checkout.session.completed';
const DELIVERIES = 5_000;
const ENDPOINTS = 10;
/** What the baseline keeps in flight to an endpoint; more make it no faster. Ours begins with as many, up to MOST_SLOTS. */
const IN_FLIGHT = 10;

/**
 * Deliveries per second of one worker process, from the commit of their events until each is received and recorded,
 * against a process that posts equal bodies to the same receiver and does one UPDATE for each.
 */
export async function webhooks(services: BenchServices): Promise<Row[]> {
  const stage = await openStage(services);
  const shop = await openShop(stage);
  try {
    const [receiver, bare] = await Promise.all([
      stage.startBaseline('receiver'),
      stage.startBaseline('post-webhooks'),
      stage.startWorker(),
    ]);
    const measure = async (endpoints: number, goal: number): Promise<Row> => {
      const ours = (count: number) => deliver(stage.db, shop, receiver, count, endpoints);
      const baseline = async (count: number): Promise<number> =>
        await post(bare, {
          count,
          inFlight: IN_FLIGHT * endpoints,
          url: receiver.url,
          body: await anyBody(stage.db),
        });
      const rates: Pair<number>[] = [];
      await ours(DELIVERIES);
      await baseline(DELIVERIES);
      // As autovacuum does within a minute: until then Postgres plans for the tables that it met at first.
      await stage.db.raw('ANALYZE');
      for (let round = 0; round < ROUNDS; round += 1) {
        rates.push({ ours: await ours(DELIVERIES), baseline: await baseline(DELIVERIES) });
      }
      const figure = `webhooks, ${endpoints} endpoint${endpoints === 1 ? '' : 's'}`;
      return compareRates(figure, middle(rates, Number), goal);
    };
    await shop.addEndpoint(`${receiver.url}/1`);
    const toOne = await measure(1, 0.7);
    for (let n = 2; n <= ENDPOINTS; n += 1) await shop.addEndpoint(`${receiver.url}/${n}`);
    return [toOne, await measure(ENDPOINTS, 0.8)];
  } finally {
    await shop.close();
    await stage.close();
  }
}

/** Per second. */
async function deliver(
  db: Knex,
  shop: Shop,
  receiver: BenchProcess,
  count: number,
  endpoints: number,
): Promise<number> {
  const expected = (await received(receiver)) + count;
  await shop.tell(COMPLETED, count / endpoints);
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

/** What the baseline is to do. */
interface PostOrder {
  count: number;
  inFlight: number;
  url: string;
  body: string;
}

/** Per second. */
async function post({ url }: BenchProcess, order: PostOrder): Promise<number> {
  const { body } = await request(url, { method: 'POST', body: JSON.stringify(order), headersTimeout: 0 });
  return (order.count / JSON.parse(await body.text()).ms) * 1000;
}

async function anyBody(db: Knex): Promise<string> {
  const event = await Event.query(db).first().throwIfNotFound();
  return renderEvent({ ...event, objectText: JSON.stringify(event.object) });
}
