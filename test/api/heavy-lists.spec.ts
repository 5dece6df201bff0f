import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import request from 'supertest';
import { eventually } from '../../lab/world/processes/eventually.js';
import { buildEndpoints, buildSessions } from '../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { presentCheckoutSession } from '../../shared/checkout-sessions/present.js';
import { poolUse } from '../../shared/db/knex.js';
import { ANSWER_PART_BYTES, HEAVY_ANSWERS } from '../../shared/limits/bounds.js';
import { newId } from '../../shared/values/ids.js';
import { presentList } from '../../shared/wire/list.js';
import { assertLimited, assertMissing } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { buildHeavySessions } from '../support/heavy-sessions.js';
import { forAllTests } from '../support/hooks.js';
import { connectAgent } from '../support/mcp.js';
import { SESSIONS } from '../support/orders.js';
import { idsOf, readPage } from '../support/pages.js';
import { allStatements } from '../support/query-plans.js';
import { buildShop } from '../support/shop.js';
import { readRest, requestAndStall } from '../support/stalled-reader.js';
import { sdk } from '../support/stripe-sdk.js';

const EXPANDED = `${SESSIONS}?limit=100&expand[]=data.line_items`;
const HEAVY = 8;
/** Sessions of 1 MB each: the list is twice what lies between the service and a client that stops reading, 4 MB on Linux. */
const ITEMS = 60;

describe('large lists', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildShop(app));
  /** Newest first, with small objects between the large ones. */
  let ids: string[];
  before(async () => {
    const groups = [
      await buildHeavySessions(app.db, shop.accountId, HEAVY / 2, ITEMS),
      (await buildSessions(app.db, shop.accountId, 5)).map(({ id }) => id),
      await buildHeavySessions(app.db, shop.accountId, HEAVY / 2, ITEMS),
      await buildHeavySessions(app.db, shop.accountId, 5, 2),
    ];
    ids = groups.flat().sort().reverse();
  });

  const statementsOf = async (act: () => Promise<unknown>): Promise<number> =>
    (await allStatements(app.db, act)).length;

  it('are byte for byte the same as in one piece', async () => {
    const res = await shop.test.get(EXPANDED).expect(200);
    const sessions = await CheckoutSession.query(app.db).whereIn('id', ids).orderBy('id', 'desc');
    const view = { baseUrl: 'https://pay.example', expand: ['line_items'] as const };
    const expected = presentList(
      SESSIONS,
      sessions.map((session) => presentCheckoutSession(session, view)),
      false,
    );
    assert.ok(res.text === JSON.stringify(expected));
    assert.ok(res.text.length > HEAVY * ANSWER_PART_BYTES);
    assert.equal(res.get('Content-Length'), undefined);
  });

  it('are read in parts, while small lists take one statement', async () => {
    assert.ok((await statementsOf(() => shop.test.get(EXPANDED).expect(200))) > HEAVY);
    const light = `${SESSIONS}?limit=100`;
    assert.equal(await statementsOf(() => shop.test.get(light).expect(200)), 1);
    assert.equal(await statementsOf(() => shop.test.get(`${SESSIONS}/${ids[0]}`).expect(200)), 1);
    const lightest = await buildShop(app);
    await buildSessions(app.db, lightest.accountId, 100);
    // One statement authenticates the key.
    await lightest.test.get('/v1/payments').expect(200);
    assert.equal(await statementsOf(() => lightest.test.get(EXPANDED).expect(200)), 1);
  });

  it('in pages join up to the complete list, forwards and backwards', async () => {
    const path = `${SESSIONS}?limit=4&expand[]=data.line_items`;
    for (const backwards of [false, true]) {
      const read: string[] = [];
      for (let cursor = backwards ? `&ending_before=${ids.at(-1)}` : ''; ; ) {
        const page = await readPage(shop.test, path + cursor);
        const found = idsOf(page);
        if (backwards) read.unshift(...found);
        else read.push(...found);
        if (!page.has_more) break;
        cursor = backwards ? `&ending_before=${found[0]}` : `&starting_after=${found.at(-1)}`;
      }
      assert.deepEqual(read, backwards ? ids.slice(0, -1) : ids);
    }
  });

  it('can be iterated with the stock Stripe SDK', async () => {
    const stripe = sdk(shop.testKey, app.port);
    const found: string[] = [];
    for await (const session of stripe.checkout.sessions.list({ limit: 9, expand: ['data.line_items'] })) {
      found.push(session.id);
      assert.equal(session.line_items?.data.length, (await itemCounts()).get(session.id));
    }
    assert.deepEqual(found, ids);
  });

  let counts: Map<string, number> | undefined;
  async function itemCounts(): Promise<Map<string, number>> {
    if (counts !== undefined) return counts;
    const { rows } = await app.db.raw(
      'SELECT id, json_array_length(line_items) AS count FROM checkout_sessions WHERE account_id = ?',
      [shop.accountId],
    );
    counts = new Map(rows.map(({ id, count }: { id: string; count: number }) => [id, count]));
    return counts;
  }

  it('of one large session contain it alone, and its line items in pages', async () => {
    const [id = ''] = await buildHeavySessions(app.db, shop.accountId, 1);
    const path = `${SESSIONS}/${id}`;
    const { body } = await shop.test.get(`${path}?expand[]=line_items`).expect(200);
    const session = await CheckoutSession.query(app.db).findById(id).throwIfNotFound();
    const view = { baseUrl: 'https://pay.example', expand: ['line_items'] as const };
    assert.deepEqual(body, JSON.parse(JSON.stringify(presentCheckoutSession(session, view))));
    const items = body.line_items.data;
    const all = await readPage(shop.test, `${path}/line_items`);
    assert.deepEqual(all, { ...body.line_items, data: items });
    const page = await readPage(shop.test, `${path}/line_items?limit=7&starting_after=${items[9].id}`);
    assert.deepEqual(page, { ...body.line_items, has_more: true, data: items.slice(10, 17) });
    assertMissing(await shop.test.get(`${path}/line_items?starting_after=${newId('li_')}`), 'starting_after');
    await CheckoutSession.query(app.db).deleteById(id);
  });

  it('answer HEAD without holding resources', async () => {
    await request(app.server).head(EXPANDED).set('Authorization', `Bearer ${shop.testKey}`).expect(200);
    assert.equal(poolUse(app.db).used, 0);
  });

  it('of webhook endpoints without a limit are complete', async () => {
    const other = await buildShop(app);
    const url = `https://shop.example/${'x'.repeat(2000)}`;
    const built = await buildEndpoints(app.db, other.accountId, 1000, { url, description: 'é'.repeat(500) });
    const list = await readPage(other.test, '/v1/webhook_endpoints');
    assert.deepEqual(idsOf(list), built.reverse());
    assert.equal(list.has_more, false);
    assert.equal(list.data[999]?.url, url);
  });

  it('are refused over MCP, which returns small ones', async () => {
    const agent = await connectAgent(app.port, shop.testKey);
    const { isError, body } = await agent.call('list_checkout_sessions', {
      limit: 30,
      expand: ['data.line_items'],
    });
    assert.deepEqual([isError, body.error.code], [true, 'parameter_invalid']);
    assert.match(body.error.message, /fewer/);
    const light = await agent.call('list_checkout_sessions', { limit: 30 });
    assert.equal(light.isError, false);
    assert.deepEqual(idsOf(light.body), ids);
    await agent.close();
  });

  describe('whose readers stop', () => {
    const readers: Socket[] = [];
    afterEach(() => {
      for (const socket of readers.splice(0)) socket.destroy();
    });

    async function stopReading(): Promise<Socket> {
      const socket = await requestAndStall(app.port, EXPANDED, shop.testKey);
      readers.push(socket);
      return socket;
    }

    it('hold neither connections of Postgres nor slots, and are at most so many of one account', async () => {
      await Promise.all(Array.from({ length: HEAVY_ANSWERS.perAccount }, stopReading));
      await eventually(() => assert.equal(poolUse(app.db).used, 0));
      const refused = await request(app.server).get(EXPANDED).set('Authorization', `Bearer ${shop.testKey}`);
      assert.equal(refused.status, 429);
      assertLimited(refused);
      // Small requests, and other accounts' requests, are still answered.
      await shop.test.get(`${SESSIONS}?limit=100`).expect(200);
      const another = await buildShop(app);
      await buildHeavySessions(app.db, another.accountId, 3, ITEMS);
      await another.test.get(EXPANDED).expect(200);
      // A client that disconnects frees its slot.
      readers.pop()?.destroy();
      await eventually(async () =>
        assert.equal((await readPage(shop.test, EXPANDED)).data.length, ids.length),
      );
    });

    it('get the rest when they continue', async () => {
      const socket = await stopReading();
      // The answer's part has been let go after this pause.
      await pause(HEAVY_ANSWERS.slotIdleMs * 5);
      const { bytes, end } = await readRest(socket);
      assert.ok(bytes > HEAVY * ANSWER_PART_BYTES);
      assert.ok(end.endsWith(']}\r\n0\r\n\r\n'), end);
    });

    it('are broken off when an object that they have not got yet is archived', async () => {
      const [oldest] = ids.splice(-1);
      const socket = await stopReading();
      await CheckoutSession.query(app.db).deleteById(String(oldest));
      const { end } = await readRest(socket);
      assert.ok(!end.endsWith('0\r\n\r\n'), end);
    });
  });
});
