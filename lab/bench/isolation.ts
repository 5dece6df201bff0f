import { createApiKey } from '../../shared/accounts/api-keys.js';
import { newId } from '../../shared/values/ids.js';
import { medians } from './growth/medians.js';
import { BIG_ACCOUNT, seedDatabase } from './growth/seed.js';
import { oneConnectionTo } from './load/one-connection.js';
import type { Row } from './report/benchmark.js';
import { ratioAtMost, round } from './report/statistics.js';
import type { System } from './system/system.js';

const TIMES = 1000;
const GOAL = 1.2;
const COUNTS = {
  accounts: 50,
  sessions: 50_000,
  payments: 10_000,
  deliveries: 20_000,
  idempotencyRecords: 100,
};

/** Checks that the latency of a 404 does not reveal whether another account has the object. */
export async function isolation({ db, startWeb }: System): Promise<Row[]> {
  await seedDatabase(db, COUNTS);
  const ask = oneConnectionTo((await startWeb()).url);
  const key = await createApiKey(db, { accountId: BIG_ACCOUNT, livemode: false, name: 'Bench' });
  const headers = { authorization: `Bearer ${key.secret}` };
  const ofAnother = async (table: string): Promise<string> =>
    (await db(table).whereNot({ accountId: BIG_ACCOUNT }).orderBy('id').first('id')).id;
  const sessions = [await ofAnother('checkoutSessions'), newId('cs_test_')];
  const objects = {
    session: sessions.map((id) => `/v1/checkout/sessions/${id}`),
    cursor: sessions.map((id) => `/v1/checkout/sessions?starting_after=${id}`),
    endpoint: [await ofAnother('webhookEndpoints'), newId('we_')].map((id) => `/v1/webhook_endpoints/${id}`),
  };
  const rows: Row[] = [];
  for (const [object, paths] of Object.entries(objects)) {
    const acts = paths.map((path) => () => ask(404, { path, headers }));
    const [theirs = 0, none = 0] = await medians(acts, TIMES);
    rows.push({
      figure: `404 of a ${object}`,
      'not yours ms': round(theirs),
      'not there ms': round(none),
      ...ratioAtMost(Math.max(theirs, none) / Math.min(theirs, none), GOAL),
    });
  }
  return rows;
}
