import assert from 'node:assert/strict';
import type { Response } from 'supertest';
import { buildMerchant, buildSessions, HOOK_URL, type Merchant } from '../../../lab/world/shop/factories.js';
import { MAX_EXPIRED_BATCH_DELIVERIES, MAX_PENDING_DELIVERIES } from '../../../shared/limits/bounds.js';
import { leaveToSweep } from '../../../shared/queues/delivery-notifier.js';
import { expireOverdueSessions } from '../../../shared/settlement/expire-overdue.js';
import { sweepEndpoints } from '../../../shared/webhooks/pending-deliveries.js';
import { assertLimited, type Client, client } from '../../support/api-client.js';
import { forAllTests } from '../../support/hooks.js';
import { openWebhookFlow } from '../../support/webhook-flow.js';

const LINE_ITEMS = [{ price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } }];
const ENDPOINTS = 1000;
const SWEPT_AT_ONCE = 1000;

/** No worker runs, so that nothing but the requests and the calls of these specs writes deliveries. */
describe('an account with many endpoints', () => {
  const flow = forAllTests(() =>
    openWebhookFlow('fan_out', {
      worker: false,
      environment: { RATE_LIMIT_API_PER_SECOND: '100' },
    }),
  );

  interface Shop extends Merchant {
    api: Client;
    endpointIds: string[];
    /** An event from the time before the endpoints, so that it has no deliveries. */
    event: string;
  }

  async function buildShop(endpoints: number): Promise<Shop> {
    const merchant = await buildMerchant(flow.db);
    const api = client(flow.app, merchant.testKey);
    const session = await createSession({ api });
    await api.post(`/v1/checkout/sessions/${session}/expire`).expect(200);
    const event = (await api.get('/v1/events').expect(200)).body.data[0].id;
    const { rows } = await flow.db.raw(
      `INSERT INTO webhook_endpoints (id, account_id, livemode, url, enabled_events, status, sealed_secret)
       SELECT 'we_' || right(:account, 12) || lpad(n::text, 16, '0'), :account, false, :url, ARRAY['*'], 'enabled', 'x'
       FROM generate_series(1, CAST(:endpoints AS int)) n RETURNING id`,
      { account: merchant.accountId, url: HOOK_URL, endpoints },
    );
    const endpointIds = rows.map(({ id }: { id: string }) => id);
    return { ...merchant, api, endpointIds, event };
  }

  async function createSession({ api }: Pick<Shop, 'api'>): Promise<string> {
    return (await api.post('/v1/checkout/sessions', { line_items: LINE_ITEMS }).expect(200)).body.id;
  }

  /** Without a check of the foreign keys of each row, which takes four times as long as the rows. */
  async function addPending(shop: Shop, count: number): Promise<void> {
    await flow.db.raw(
      `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, due_at)
       SELECT 'wd_' || right(:account, 12) || lpad(n::text, 16, '0'), :event, :endpoint, 'pending', now() + interval '1 hour'
       FROM set_config('session_replication_role', 'replica', true), generate_series(1, CAST(:count AS int)) n`,
      { account: shop.accountId, event: shop.event, endpoint: shop.endpointIds[0] ?? '', count },
    );
  }

  const resend = ({ api }: Shop, event: string) => api.post(`/v1/events/${event}/resend`);
  const countWhere = async (shop: Shop, where = 'true'): Promise<number> =>
    (
      await flow.db.raw(
        `SELECT count(*) AS count FROM webhook_deliveries delivery
         WHERE endpoint_id IN (SELECT id FROM webhook_endpoints WHERE account_id = :account) AND ${where}`,
        { account: shop.accountId },
      )
    ).rows[0].count;

  function assertHeld(res: Response): void {
    assertLimited(res);
    assert.ok(Number(res.get('Retry-After')) >= 1);
  }

  it('has a request counted by its deliveries, goes into debt with its limit, and delays nobody else', async () => {
    const [hog, other] = [await buildShop(ENDPOINTS), await buildShop(1)];
    const { event } = hog;
    await resend(hog, event).expect(200);
    assert.equal(await countWhere(hog), ENDPOINTS);
    // In front of their random digits the ids differ: they increase.
    const ids = await flow.db('webhook_deliveries').whereIn('endpoint_id', hog.endpointIds).pluck('id');
    assert.equal(new Set(ids.map((id) => id.slice(0, 19))).size, ENDPOINTS);
    const refused = await hog.api.get('/v1/payments');
    assertHeld(refused);
    // 1,000 rows at 100 a second, of which 200 were at hand.
    assert.ok(Number(refused.get('Retry-After')) > 2);
    let isOver = false;
    let sent = 1;
    const hogging = (async () => {
      while (!isOver) if ((await resend(hog, event)).status === 200) sent += 1;
    })();
    for (let n = 0; n < 50; n += 1) await createSession(other);
    isOver = true;
    await hogging;
    assert.equal(await countWhere(hog), sent * ENDPOINTS);
    assert.equal(await countWhere(other), 0);
  });

  it('is refused a request that does not fit, with nothing written, and a repeated one is not counted', async () => {
    const shop = await buildShop(150);
    const { event } = shop;
    const first = await resend(shop, event).set('Idempotency-Key', 'again').expect(200);
    const session = await createSession(shop);
    assertHeld(await resend(shop, event));
    assertHeld(await shop.api.post(`/v1/checkout/sessions/${session}/expire`));
    const { body } = await shop.api.get(`/v1/checkout/sessions/${session}`).expect(200);
    assert.equal(body.status, 'open');
    assert.equal(await countWhere(shop), 150);
    const again = await resend(shop, event).set('Idempotency-Key', 'again').expect(200);
    assert.deepEqual([again.text, again.get('Idempotent-Replayed')], [first.text, 'true']);
    assert.equal(await countWhere(shop), 150);
  });

  it('resends no more while 100,000 of its deliveries are pending, and its events go on', async () => {
    const shop = await buildShop(2);
    const { event } = shop;
    await addPending(shop, MAX_PENDING_DELIVERIES - 1);
    const [first = '', second = ''] = shop.endpointIds;
    const one = (webhook_endpoint: string) =>
      shop.api.post(`/v1/events/${event}/resend`, { webhook_endpoint });
    const refused = await resend(shop, event);
    assertHeld(refused);
    assert.match(refused.body.error.message, /100,000 deliveries/);
    await one(second).expect(200);
    for (const id of [first, second]) assertHeld(await one(id));
    assert.equal(await countWhere(shop, `status = 'pending'`), MAX_PENDING_DELIVERIES);
    const session = await createSession(shop);
    await shop.api.post(`/v1/checkout/sessions/${session}/expire`).expect(200);
    assert.equal(await countWhere(shop, `status = 'pending'`), MAX_PENDING_DELIVERIES + 2);
  });

  it('writes no delivery when it switches an endpoint off and on; workers make them due in batches', async () => {
    const shop = await buildShop(1);
    const [endpoint = ''] = shop.endpointIds;
    const path = `/v1/webhook_endpoints/${endpoint}`;
    await addPending(shop, 2 * SWEPT_AT_ONCE + 1);
    const written = async (): Promise<number> =>
      (
        await flow.db.raw(
          'SELECT count(DISTINCT xmin::text) AS count FROM webhook_deliveries WHERE endpoint_id = ?',
          [endpoint],
        )
      ).rows[0].count;
    const nextTry = async (): Promise<unknown> =>
      (await shop.api.get(`${path}/deliveries?limit=1&status=pending`).expect(200)).body.data[0].next_try_at;
    assert.ok(typeof (await nextTry()) === 'number');
    await shop.api.post(path, { disabled: true }).expect(200);
    assert.equal(await nextTry(), null);
    await sweepEndpoints(flow.db);
    await shop.api.post(path, { disabled: false }).expect(200);
    assert.equal(await written(), 1);
    for (const due of [SWEPT_AT_ONCE, 2 * SWEPT_AT_ONCE, 2 * SWEPT_AT_ONCE + 1]) {
      await sweepEndpoints(flow.db);
      assert.equal(await countWhere(shop, 'due_at <= now()'), due);
    }
    await sweepEndpoints(flow.db);
    assert.equal((await flow.endpoint(endpoint)).sweptTo, null);
  });

  it('drops a few deliveries at once when it deletes an endpoint, and workers the rest in batches', async () => {
    const shop = await buildShop(1);
    const [endpoint = ''] = shop.endpointIds;
    await addPending(shop, SWEPT_AT_ONCE + 500);
    await shop.api.delete(`/v1/webhook_endpoints/${endpoint}`).expect(200);
    const dropped = (): Promise<number> => countWhere(shop, `status = 'dropped' AND due_at IS NULL`);
    assert.ok((await dropped()) <= 100);
    await sweepEndpoints(flow.db);
    assert.ok((await dropped()) < SWEPT_AT_ONCE + 500);
    await sweepEndpoints(flow.db);
    assert.equal(await dropped(), SWEPT_AT_ONCE + 500);
  });

  it('has sessions that expire together written in batches', async () => {
    const shop = await buildShop(ENDPOINTS);
    await buildSessions(flow.db, shop.accountId, 12, { expiresAt: new Date(Date.now() - 60_000) });
    const expire = () => expireOverdueSessions(flow.db, 1000, { notifyDeliveries: leaveToSweep });
    assert.deepEqual([await expire(), await expire()], [MAX_EXPIRED_BATCH_DELIVERIES / ENDPOINTS, 2]);
    assert.equal(await countWhere(shop), 12 * ENDPOINTS);
  });

  it('does not delay the expiry of other accounts, although many of its sessions are older', async () => {
    const [hog, other] = [await buildShop(ENDPOINTS), await buildShop(1)];
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);
    await buildSessions(flow.db, hog.accountId, 60, { expiresAt: ago(60) });
    await buildSessions(flow.db, other.accountId, 3, { expiresAt: ago(10) });
    await expireOverdueSessions(flow.db, 20, { notifyDeliveries: leaveToSweep });
    assert.equal(await countWhere(other), 3);
    const written = await countWhere(hog);
    assert.ok(written > 0 && written <= MAX_EXPIRED_BATCH_DELIVERIES);
    await flow.db('payables').where({ accountId: hog.accountId }).update({ status: 'expired' });
  });

  it('gets deliveries that an earlier release has held, too', async () => {
    const shop = await buildShop(1);
    const [endpoint = ''] = shop.endpointIds;
    await addPending(shop, 3);
    await flow.db('webhookEndpoints').where({ id: endpoint }).update({ status: 'disabled' });
    await flow.db('webhookDeliveries').where({ endpointId: endpoint }).update({ dueAt: null });
    await shop.api.post(`/v1/webhook_endpoints/${endpoint}`, { disabled: false }).expect(200);
    await sweepEndpoints(flow.db);
    assert.equal(await countWhere(shop, 'due_at <= now()'), 3);
  });
});
