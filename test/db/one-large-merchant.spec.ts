import assert from 'node:assert/strict';
import { BIG_ACCOUNT, seedDatabase } from '../../lab/bench/growth/seed.js';
import { buildEndpoints } from '../../lab/world/shop/factories.js';
import { createApiKey } from '../../shared/accounts/api-keys.js';
import { type Client, client } from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { tableReads } from '../support/query-plans.js';
import { buildShop } from '../support/shop.js';
import { createMigratedDatabase } from '../support/suite.js';

const COUNTS = { accounts: 1, sessions: 8000, payments: 4000, deliveries: 4000, idempotencyRecords: 1 };
const MOST_ROWS = 100;
/** Postgres may make one plan for all values of a prepared statement once it was executed five times. */
const OFTEN = 8;
const LISTS = ['checkout/sessions', 'payments', 'refunds', 'events', 'webhook_endpoints', 'keys'];

/** Most services have one merchant. By Postgres' statistics every list is then long, also an empty list. */
describe('query plans beside one large merchant', () => {
  let app: TestApp;
  let shops: Record<'another merchant' | 'its other mode', Client>;
  let merchant: Client;
  let endpoint: string;
  before(async () => {
    const url = await createMigratedDatabase('one_large_merchant');
    app = await openTestApp({ DATABASE_URL: url, DATABASE_POOL_SIZE: '1' });
    await seedDatabase(app.db, COUNTS);
    await buildEndpoints(app.db, BIG_ACCOUNT, 1);
    [endpoint] = await app.db('webhookEndpoints').where('id', 'not like', 'we\\_growth%').pluck('id');
    const keyOf = async (livemode: boolean): Promise<Client> =>
      client(app, (await createApiKey(app.db, { accountId: BIG_ACCOUNT, livemode, name: 'Test' })).secret);
    merchant = await keyOf(false);
    shops = { 'another merchant': (await buildShop(app)).test, 'its other mode': await keyOf(true) };
    await app.db.raw('ANALYZE');
  });
  after(() => app.close());

  async function assertFewRows(shop: Client, path: string): Promise<void> {
    for (const { rows, scan } of await tableReads(app.db, () => shop.get(path).expect(200)))
      assert.ok(rows <= MOST_ROWS, scan);
  }

  for (const shop of ['another merchant', 'its other mode'] as const)
    for (const list of LISTS)
      it(`read few rows for the ${list} of ${shop}`, () => assertFewRows(shops[shop], `/v1/${list}`));

  for (const path of ['payments?token=USDC', 'events?created[gte]=1', 'refunds?status=pending'])
    it(`are made anew for each ${path}`, async () => {
      for (let n = 0; n < OFTEN; n += 1) await shops['its other mode'].get(`/v1/${path}`).expect(200);
      const { rows } = await app.db.raw('SELECT name FROM pg_prepared_statements WHERE generic_plans > 0');
      for (const { name } of rows) assert.ok(!name.startsWith(path.split('?')[0]), name);
    });

  for (const limit of [10, 20, 100])
    it(`read few rows for the ${limit} newest deliveries to an endpoint that has none`, () =>
      assertFewRows(merchant, `/v1/webhook_endpoints/${endpoint}/deliveries?limit=${limit}`));
});
