import assert from 'node:assert/strict';
import { buildSession } from '../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { lowestIdAt, randomText } from '../../shared/values/ids.js';
import { WebhookEndpoint } from '../../shared/webhooks/model.js';
import { assertInvalid, assertMissing } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { ENDPOINTS, SESSIONS } from '../support/orders.js';
import { idsOf, readPage } from '../support/pages.js';
import { buildShop } from '../support/shop.js';

describe('pages', () => {
  const app = forAllTests(openTestApp);

  describe('filtered by status', () => {
    const shop = forAllTests(() => buildShop(app));
    /** Ids by status, newest first. */
    const ids: Record<string, string[]> = { open: [], complete: [], expired: [], processing: [] };
    before(async () => {
      for (let i = 0; i < 3; i++) {
        for (const status of ['open', 'complete', 'expired', 'processing'] as const) {
          ids[status]?.unshift((await buildSession(app.db, shop.accountId, { status })).id);
        }
      }
    });

    for (const status of ['open', 'complete', 'expired']) {
      it(`contain only ${status} sessions, page by page`, async () => {
        const own = ids[status] ?? [];
        const first = await readPage(shop.test, `${SESSIONS}?status=${status}&limit=2`);
        assert.deepEqual([idsOf(first), first.has_more], [own.slice(0, 2), true]);
        const rest = await readPage(
          shop.test,
          `${SESSIONS}?status=${status}&limit=2&starting_after=${own[1]}`,
        );
        assert.deepEqual([idsOf(rest), rest.has_more], [own.slice(2), false]);
        const back = await readPage(
          shop.test,
          `${SESSIONS}?status=${status}&limit=1&ending_before=${own[2]}`,
        );
        assert.deepEqual([idsOf(back), back.has_more], [own.slice(1, 2), true]);
      });
    }

    it('accept a cursor with another status, since a cursor is a position', async () => {
      const open = ids.open ?? [];
      const after = await readPage(shop.test, `${SESSIONS}?status=open&starting_after=${ids.expired?.[1]}`);
      assert.deepEqual(idsOf(after), open.slice(1));
      const before = await readPage(shop.test, `${SESSIONS}?status=open&ending_before=${ids.expired?.[1]}`);
      assert.deepEqual(idsOf(before), open.slice(0, 1));
      const oldest = await readPage(shop.test, `${SESSIONS}?status=complete&starting_after=${open[2]}`);
      assert.deepEqual(idsOf(oldest), []);
    });

    it('accept a cursor whose status has changed since the previous page', async () => {
      const other = await buildShop(app);
      const made: string[] = [];
      for (let i = 0; i < 4; i++) made.unshift((await buildSession(app.db, other.accountId)).id);
      const first = await readPage(other.test, `${SESSIONS}?status=open&limit=2`);
      await other.test.post(`${SESSIONS}/${made[1]}/expire`).expect(200);
      const second = await readPage(other.test, `${SESSIONS}?status=open&limit=2&starting_after=${made[1]}`);
      assert.deepEqual([...idsOf(first), ...idsOf(second)], made);
    });

    it('refuse a cursor that names no object, even when nothing matches', async () => {
      const other = await buildShop(app);
      for (const status of ['open', 'expired']) {
        const res = await other.test.get(`${SESSIONS}?status=${status}&starting_after=${ids.open?.[0]}`);
        assertMissing(res, 'starting_after');
      }
    });

    it('ignore an empty status', async () => {
      assert.equal((await readPage(shop.test, `${SESSIONS}?status=&limit=100`)).data.length, 12);
    });

    for (const status of ['processing', 'paid', 'OPEN', 'open,expired', '%20open']) {
      it(`refuse the status ${status}`, async () => {
        assertInvalid(
          await shop.test.get(`${SESSIONS}?status=${status}`),
          'parameter_invalid_enum',
          'status',
        );
      });
    }
    it('refuse more than one status', async () => {
      const twice = await shop.test.get(`${SESSIONS}?status=open&status=expired`);
      assertInvalid(twice, 'parameter_invalid', 'status');
      assert.equal((await shop.test.get(`${SESSIONS}?status[]=open`)).status, 400);
    });
  });

  describe('filtered by created', () => {
    const T = 1_700_000_000;
    const shop = forAllTests(() => buildShop(app));
    /** Sessions created at these times, in Unix seconds, oldest first. */
    const times = [T - 1, T - 0.001, T, T + 0.999, T + 1, T + 2];
    const ids: string[] = [];
    before(async () => {
      for (const time of times) {
        const id = `${lowestIdAt('cs_test_', Math.round(time * 1000))}${randomText(20)}`;
        await buildSession(app.db, shop.accountId, { id });
        ids.push(id);
      }
      await buildSession(app.db, shop.accountId, {
        id: `${lowestIdAt('cs_live_', T * 1000)}${randomText(20)}`,
        livemode: true,
      });
    });

    async function matching(query: string): Promise<number[]> {
      const page = await readPage(shop.test, `${SESSIONS}?limit=100&${query}`);
      return idsOf(page)
        .map((id) => ids.indexOf(id))
        .reverse();
    }

    it('contain sessions created within the second of `created`', async () => {
      const page = await readPage(shop.test, SESSIONS);
      assert.deepEqual(page.data.map(({ created }) => created).reverse(), [T - 1, T - 1, T, T, T + 1, T + 2]);
    });

    const expected: [query: string, found: number[]][] = [
      [`created=${T}`, [2, 3]],
      [`created=${T - 1}`, [0, 1]],
      [`created=${T - 2}`, []],
      [`created[gte]=${T}`, [2, 3, 4, 5]],
      [`created[gt]=${T}`, [4, 5]],
      [`created[gt]=${T - 1}`, [2, 3, 4, 5]],
      [`created[lte]=${T}`, [0, 1, 2, 3]],
      [`created[lt]=${T}`, [0, 1]],
      [`created[lt]=${T + 1}`, [0, 1, 2, 3]],
      [`created[gte]=${T}&created[lte]=${T}`, [2, 3]],
      [`created[gte]=${T}&created[lt]=${T + 1}`, [2, 3]],
      [`created[gt]=${T - 1}&created[lt]=${T + 1}`, [2, 3]],
      [`created[gt]=${T}&created[lt]=${T + 1}`, []],
      [`created[gte]=${T}&created[gt]=${T}`, [4, 5]],
      [`created[lte]=${T}&created[lt]=${T}`, [0, 1]],
      [`created[gte]=${T + 1}&created[lte]=${T - 1}`, []],
      ['created[gte]=0', [0, 1, 2, 3, 4, 5]],
      ['created[gte]=-1', [0, 1, 2, 3, 4, 5]],
      ['created[lt]=0', []],
      ['created=0', []],
      ['created[lt]=99999999999', [0, 1, 2, 3, 4, 5]],
      ['created=', [0, 1, 2, 3, 4, 5]],
      [`created[gte]=&created[lt]=${T}`, [0, 1]],
      [`created%5Bgt%5D=${T}`, [4, 5]],
      [`status=open&created[gt]=${T}`, [4, 5]],
      [`status=expired&created[gt]=${T}`, []],
    ];
    for (const [query, found] of expected) {
      it(`?${query.replaceAll(/17000000\d\d|169999999\d/g, (seconds) => offsetOf(Number(seconds)))}`, async () => {
        assert.deepEqual(await matching(query), found);
      });
    }
    function offsetOf(seconds: number): string {
      if (seconds === T) return 'T';
      return seconds > T ? `T+${seconds - T}` : `T-${T - seconds}`;
    }

    it('can be paged in both directions', async () => {
      const [, b, c, d, e] = ids;
      const query = `${SESSIONS}?limit=2&created[gte]=${T - 1}&created[lte]=${T + 1}`;
      const first = await readPage(shop.test, query);
      assert.deepEqual([idsOf(first), first.has_more], [[e, d], true]);
      const second = await readPage(shop.test, `${query}&starting_after=${d}`);
      assert.deepEqual([idsOf(second), second.has_more], [[c, b], true]);
      const back = await readPage(shop.test, `${query}&ending_before=${b}`);
      assert.deepEqual([idsOf(back), back.has_more], [[d, c], true]);
      const beyond = await readPage(shop.test, `${query}&starting_after=${ids[5]}`);
      assert.deepEqual([idsOf(beyond), beyond.has_more], [[e, d], true]);
    });

    const refused: [query: string, code: string, param: string][] = [
      ['created=yesterday', 'parameter_invalid_integer', 'created'],
      ['created=1.5', 'parameter_invalid_integer', 'created'],
      ['created=2026-10-15', 'parameter_invalid_integer', 'created'],
      ['created[gte]=yesterday', 'parameter_invalid_integer', 'created[gte]'],
      ['created[lt]=1.5', 'parameter_invalid_integer', 'created[lt]'],
      [`created[lte]=${'9'.repeat(30)}`, 'parameter_invalid_integer', 'created[lte]'],
      ['created[gt][a]=1', 'parameter_invalid_integer', 'created[gt]'],
      ['created[eq]=1', 'parameter_unknown', 'created[eq]'],
      ['created[GTE]=1', 'parameter_unknown', 'created[GTE]'],
      ['created[gte]=1&created[gte]=2', 'parameter_invalid', 'created[gte]'],
      ['created=1&created[gte]=2', 'parameter_invalid', 'created'],
      ['created=1&created=2', 'parameter_invalid', 'created'],
    ];
    for (const [query, code, param] of refused) {
      it(`refuse ?${query.slice(0, 40)}`, async () => {
        assertInvalid(await shop.test.get(`${SESSIONS}?${query}`), code, param);
      });
    }
  });

  describe('expanded', () => {
    const shop = forAllTests(() => buildShop(app));
    before(async () => {
      for (let i = 0; i < 2; i++) await buildSession(app.db, shop.accountId);
    });

    for (const expand of [
      'expand[]=data.line_items',
      'expand[0]=data.line_items',
      'expand=data.line_items',
      'expand[]=data.line_items&expand[]=data.line_items',
    ]) {
      it(`include the line items of each session with ?${expand}`, async () => {
        const { data } = await readPage(shop.test, `${SESSIONS}?${expand}`);
        for (const session of data) {
          const single = await shop.test.get(`${SESSIONS}/${session.id}?expand[]=line_items`).expect(200);
          assert.deepEqual(session, single.body);
        }
      });
    }

    it('omit line items otherwise', async () => {
      for (const query of ['', '?expand=', '?limit=1']) {
        for (const session of (await readPage(shop.test, SESSIONS + query)).data)
          assert.ok(!('line_items' in session));
      }
    });

    const refused: [query: string, code: string, param: string][] = [
      ['expand[]=line_items', 'parameter_invalid_enum', 'expand[0]'],
      ['expand=line_items', 'parameter_invalid_enum', 'expand[0]'],
      ['expand[]=data', 'parameter_invalid_enum', 'expand[0]'],
      ['expand[]=data.payment', 'parameter_invalid_enum', 'expand[0]'],
      ['expand[]=data.line_items&expand[]=x', 'parameter_invalid_enum', 'expand[1]'],
      ['expand[3]=x', 'parameter_invalid_enum', 'expand[3]'],
      ['expand[]=', 'parameter_invalid_empty', 'expand[0]'],
      ['expand[]=%00', 'parameter_invalid_string', 'expand[0]'],
      ['status=open%00', 'parameter_invalid_string', 'status'],
      ['%00=1', 'parameter_unknown', '\0'],
      ['expand[a]=data.line_items', 'parameter_invalid', 'expand'],
    ];
    for (const [query, code, param] of refused) {
      it(`refuse ?${query}`, async () => {
        assertInvalid(await shop.test.get(`${SESSIONS}?${query}`), code, param);
      });
    }
  });

  describe('unknown query parameters', () => {
    it('are refused after a second question mark', async () => {
      const { test: api } = await buildShop(app);
      assertInvalid(await api.get(`${SESSIONS}??limit=1`), 'parameter_unknown', '?limit');
    });

    it('are refused on every request, POST and DELETE included, without effect', async () => {
      const shop = await buildShop(app);
      const { id } = await buildSession(app.db, shop.accountId);
      const order = { line_items: [{ price_data: { unit_amount: 1, product_data: { name: 'A' } } }] };
      const made = await shop.test.post(ENDPOINTS, { url: 'https://1.1.1.1/' }).expect(200);
      const we = `${ENDPOINTS}/${made.body.id}`;
      for (const name of ['foo', 'limit', 'expand', 'line_items', 'url']) {
        for (const test of [
          shop.test.post(`${SESSIONS}?${name}=1`, order),
          shop.test.post(`${SESSIONS}/${id}/expire?${name}=1`),
          shop.test.post(`${ENDPOINTS}?${name}=1`, { url: 'https://1.1.1.1/' }),
          shop.test.post(`${we}?${name}=1`, { disabled: true }),
          shop.test.delete(`${we}?${name}=1`),
          shop.test.get(`${we}?${name}=1`),
        ]) {
          assertInvalid(await test, 'parameter_unknown', name);
        }
      }
      const sessions = await CheckoutSession.query(app.db).where({ accountId: shop.accountId });
      assert.deepEqual(
        sessions.map(({ status }) => status),
        ['open'],
      );
      const endpoints = await WebhookEndpoint.query(app.db).where({ accountId: shop.accountId });
      assert.deepEqual(
        endpoints.map(({ status, deletedAt }) => [status, deletedAt]),
        [['enabled', null]],
      );
    });
  });
});
