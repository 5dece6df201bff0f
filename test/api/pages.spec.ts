import assert from 'node:assert/strict';
import { lowestIdAt, newId, randomText } from '../../shared/ids.js';
import { CheckoutSession } from '../../shared/models/checkout-session.js';
import { WebhookEndpoint } from '../../shared/models/webhook-endpoint.js';
import { assertInvalid, assertMissing, type Client, client } from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { buildMerchant, buildPaidSession, buildSession, type Merchant } from '../support/factories.js';

const SESSIONS = '/v1/checkout/sessions';
const ENDPOINTS = '/v1/webhook_endpoints';
const PAYMENTS = '/v1/payments';

interface Page {
  object: 'list';
  url: string;
  has_more: boolean;
  data: { id: string; [field: string]: unknown }[];
}

interface Shop extends Merchant {
  api: Client;
}

/** A list of seven objects, newest first, as each endpoint that pages sees it. */
interface Listed {
  path: string;
  ids: string[];
  api: Client;
}

const idsOf = (page: Page): string[] => page.data.map(({ id }) => id);

describe('pages', () => {
  let app: TestApp;
  before(async () => {
    app = await openTestApp();
  });
  after(() => app.close());

  async function newShop(): Promise<Shop> {
    const merchant = await buildMerchant(app.db);
    return { ...merchant, api: client(app, merchant.testKey) };
  }

  async function read(api: Client, path: string): Promise<Page> {
    const res = await api.get(path);
    assert.equal(res.status, 200, `${path}: ${res.text}`);
    return res.body;
  }

  const lists: Record<string, (shop: Shop) => Promise<{ path: string; ids: string[] }>> = {
    'checkout sessions': async ({ accountId }) => {
      const ids: string[] = [];
      for (let i = 0; i < 7; i++) ids.unshift((await buildSession(app.db, accountId)).id);
      return { path: SESSIONS, ids };
    },
    payments: async ({ accountId }) => {
      const ids: string[] = [];
      for (let i = 0; i < 7; i++) ids.unshift((await buildPaidSession(app.db, accountId)).payment.id);
      return { path: PAYMENTS, ids };
    },
    'webhook endpoints': async ({ accountId }) => {
      const row = {
        accountId,
        livemode: false,
        url: 'https://1.1.1.1/',
        enabledEvents: ['*' as const],
        status: 'enabled' as const,
        sealedSecret: 'none',
      };
      const rows = Array.from({ length: 7 }, () => ({ id: newId('we_'), ...row }));
      await WebhookEndpoint.query(app.db).insert(rows);
      return { path: ENDPOINTS, ids: rows.map(({ id }) => id).reverse() };
    },
    // These are in the order of the body, not newest first; pages work the same.
    'line items': async ({ api }) => {
      const items = Array.from({ length: 7 }, (_, i) => ({
        price_data: { unit_amount: i, product_data: { name: `Item ${i}` } },
      }));
      const { body } = await api.post(SESSIONS, { line_items: items, expand: ['line_items'] }).expect(200);
      return { path: `${SESSIONS}/${body.id}/line_items`, ids: idsOf(body.line_items) };
    },
  };

  for (const [what, build] of Object.entries(lists)) {
    describe(`of ${what}`, () => {
      let listed: Listed;
      before(async () => {
        const shop = await newShop();
        listed = { api: shop.api, ...(await build(shop)) };
      });

      it('come whole when they fit, with the path of the list', async () => {
        const { api, path, ids } = listed;
        for (const query of ['', '?limit=7', '?limit=8', '?limit=100']) {
          const page = await read(api, path + query);
          assert.deepEqual(page, { object: 'list', url: path, has_more: false, data: page.data });
          assert.deepEqual(idsOf(page), ids);
        }
      });

      for (const limit of [1, 2, 3, 6, 7, 8]) {
        it(`of ${limit} join up to the whole list, forwards and backwards`, async () => {
          const { api, path, ids } = listed;
          const forwards: string[] = [];
          for (let cursor = ''; ; ) {
            const page = await read(api, `${path}?limit=${limit}${cursor}`);
            forwards.push(...idsOf(page));
            assert.equal(page.has_more, forwards.length < ids.length);
            if (!page.has_more) break;
            cursor = `&starting_after=${forwards.at(-1)}`;
          }
          assert.deepEqual(forwards, ids);

          const backwards: string[] = [];
          for (let cursor = ids.at(-1); ; cursor = backwards[0]) {
            const page = await read(api, `${path}?limit=${limit}&ending_before=${cursor}`);
            backwards.unshift(...idsOf(page));
            assert.equal(page.has_more, backwards.length < ids.length - 1);
            if (!page.has_more) break;
          }
          assert.deepEqual(backwards, ids.slice(0, -1));
        });
      }

      it('are the nearest ones before ending_before, not the first of the list', async () => {
        const { api, path, ids } = listed;
        const page = await read(api, `${path}?limit=2&ending_before=${ids[5]}`);
        assert.deepEqual([idsOf(page), page.has_more], [ids.slice(3, 5), true]);
      });

      it('are empty beyond either end', async () => {
        const { api, path, ids } = listed;
        for (const query of [`starting_after=${ids.at(-1)}`, `ending_before=${ids[0]}`]) {
          const page = await read(api, `${path}?${query}`);
          assert.deepEqual([page.data, page.has_more], [[], false]);
        }
      });

      it('take empty parameters as if they were not sent', async () => {
        const { api, path, ids } = listed;
        const page = await read(api, `${path}?limit=&starting_after=&ending_before=`);
        assert.deepEqual(idsOf(page), ids);
      });

      for (const param of ['starting_after', 'ending_before']) {
        for (const [kind, cursor] of Object.entries({
          'of no object': () => newId('cs_test_'),
          'without its random part': ({ ids }: Listed) => ids[2]?.slice(0, -17),
          'in other letters': ({ ids }: Listed) => ids[2]?.toUpperCase(),
          'with something behind it': ({ ids }: Listed) => `${ids[2]}x`,
          'that is no id': () => 'x',
          'that is SQL': () => "'%20OR%201=1--",
          'that is a pattern': () => '%25',
          'of 255 characters': () => 'c'.repeat(255),
        })) {
          it(`refuse a ${param} ${kind}`, async () => {
            assertMissing(await listed.api.get(`${listed.path}?${param}=${cursor(listed)}`), param);
          });
        }

        it(`refuse a ${param} that is sent twice, in brackets or with U+0000 in it`, async () => {
          const { api, path, ids } = listed;
          const [id] = ids;
          assertInvalid(await api.get(`${path}?${param}=${id}&${param}=${id}`), 'parameter_invalid', param);
          assertInvalid(await api.get(`${path}?${param}[]=${id}`), 'parameter_invalid', param);
          assertInvalid(await api.get(`${path}?${param}=${id}%00`), 'parameter_invalid_string', param);
        });
      }

      it('refuse both cursors, whatever they are', async () => {
        const { api, path, ids } = listed;
        for (const [after, before] of [
          [ids[5], ids[1]],
          [ids[1], ids[1]],
          ['x', 'y'],
        ]) {
          const res = await api.get(`${path}?starting_after=${after}&ending_before=${before}`);
          assertInvalid(res, 'parameters_exclusive', 'ending_before');
        }
      });

      it('refuse parameters that they do not know', async () => {
        const { api, path } = listed;
        for (const name of ['offset', 'page', 'Limit', 'order', '__proto__', 'constructor']) {
          assertInvalid(await api.get(`${path}?${name}=1`), 'parameter_unknown', name);
        }
      });
    });
  }

  it('refuse a cursor that is longer than any id like every other that names no object', async () => {
    const { api } = await newShop();
    for (const path of [SESSIONS, PAYMENTS, ENDPOINTS]) {
      assertMissing(await api.get(`${path}?starting_after=${'c'.repeat(256)}`), 'starting_after');
      assertMissing(await api.get(`${path}?ending_before=${'c'.repeat(5000)}`), 'ending_before');
    }
  });

  it('of sessions stay in step while sessions are created', async () => {
    const shop = await newShop();
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) ids.unshift((await buildSession(app.db, shop.accountId)).id);
    const first = await read(shop.api, `${SESSIONS}?limit=2`);
    const newer = (await buildSession(app.db, shop.accountId)).id;
    const second = await read(shop.api, `${SESSIONS}?limit=2&starting_after=${idsOf(first)[1]}`);
    assert.deepEqual([...idsOf(first), ...idsOf(second)], ids);
    const back = await read(shop.api, `${SESSIONS}?ending_before=${ids[0]}`);
    assert.deepEqual(idsOf(back), [newer]);
  });

  describe('filtered by status', () => {
    let shop: Shop;
    /** By status, newest first. */
    const ids: Record<string, string[]> = { open: [], complete: [], expired: [], processing: [] };
    before(async () => {
      shop = await newShop();
      for (let i = 0; i < 3; i++) {
        for (const status of ['open', 'complete', 'expired', 'processing'] as const) {
          ids[status]?.unshift((await buildSession(app.db, shop.accountId, { status })).id);
        }
      }
    });

    for (const status of ['open', 'complete', 'expired']) {
      it(`show ${status} sessions alone, page by page`, async () => {
        const own = ids[status] ?? [];
        const first = await read(shop.api, `${SESSIONS}?status=${status}&limit=2`);
        assert.deepEqual([idsOf(first), first.has_more], [own.slice(0, 2), true]);
        const rest = await read(shop.api, `${SESSIONS}?status=${status}&limit=2&starting_after=${own[1]}`);
        assert.deepEqual([idsOf(rest), rest.has_more], [own.slice(2), false]);
        const back = await read(shop.api, `${SESSIONS}?status=${status}&limit=1&ending_before=${own[2]}`);
        assert.deepEqual([idsOf(back), back.has_more], [own.slice(1, 2), true]);
      });
    }

    it('take a cursor that does not match: it is a position', async () => {
      const open = ids.open ?? [];
      const after = await read(shop.api, `${SESSIONS}?status=open&starting_after=${ids.expired?.[1]}`);
      assert.deepEqual(idsOf(after), open.slice(1));
      const before = await read(shop.api, `${SESSIONS}?status=open&ending_before=${ids.expired?.[1]}`);
      assert.deepEqual(idsOf(before), open.slice(0, 1));
      const oldest = await read(shop.api, `${SESSIONS}?status=complete&starting_after=${open[2]}`);
      assert.deepEqual(idsOf(oldest), []);
    });

    it('take a cursor that matched when the page before was read', async () => {
      const other = await newShop();
      const made: string[] = [];
      for (let i = 0; i < 4; i++) made.unshift((await buildSession(app.db, other.accountId)).id);
      const first = await read(other.api, `${SESSIONS}?status=open&limit=2`);
      await other.api.post(`${SESSIONS}/${made[1]}/expire`).expect(200);
      const second = await read(other.api, `${SESSIONS}?status=open&limit=2&starting_after=${made[1]}`);
      assert.deepEqual([...idsOf(first), ...idsOf(second)], made);
    });

    it('still refuse a cursor that names nothing, also when nothing matches', async () => {
      const other = await newShop();
      for (const status of ['open', 'expired']) {
        const res = await other.api.get(`${SESSIONS}?status=${status}&starting_after=${ids.open?.[0]}`);
        assertMissing(res, 'starting_after');
      }
    });

    it('ignore an empty status', async () => {
      assert.equal((await read(shop.api, `${SESSIONS}?status=&limit=100`)).data.length, 12);
    });

    for (const status of ['processing', 'paid', 'OPEN', 'open,expired', '%20open']) {
      it(`refuse the status ${status}`, async () => {
        assertInvalid(await shop.api.get(`${SESSIONS}?status=${status}`), 'parameter_invalid_enum', 'status');
      });
    }
    it('refuse more than one status', async () => {
      const twice = await shop.api.get(`${SESSIONS}?status=open&status=expired`);
      assertInvalid(twice, 'parameter_invalid', 'status');
      assert.equal((await shop.api.get(`${SESSIONS}?status[]=open`)).status, 400);
    });
  });

  describe('filtered by created', () => {
    const T = 1_700_000_000;
    let shop: Shop;
    /** Sessions made at these times, in Unix seconds, oldest first. */
    const times = [T - 1, T - 0.001, T, T + 0.999, T + 1, T + 2];
    const ids: string[] = [];
    before(async () => {
      shop = await newShop();
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
      const page = await read(shop.api, `${SESSIONS}?limit=100&${query}`);
      return idsOf(page)
        .map((id) => ids.indexOf(id))
        .reverse();
    }

    it('see in created the second in which a session was made', async () => {
      const page = await read(shop.api, SESSIONS);
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

    it('are paged like any other, in both directions', async () => {
      const [, b, c, d, e] = ids;
      const query = `${SESSIONS}?limit=2&created[gte]=${T - 1}&created[lte]=${T + 1}`;
      const first = await read(shop.api, query);
      assert.deepEqual([idsOf(first), first.has_more], [[e, d], true]);
      const second = await read(shop.api, `${query}&starting_after=${d}`);
      assert.deepEqual([idsOf(second), second.has_more], [[c, b], true]);
      const back = await read(shop.api, `${query}&ending_before=${b}`);
      assert.deepEqual([idsOf(back), back.has_more], [[d, c], true]);
      const beyond = await read(shop.api, `${query}&starting_after=${ids[5]}`);
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
        assertInvalid(await shop.api.get(`${SESSIONS}?${query}`), code, param);
      });
    }
  });

  describe('expanded', () => {
    let shop: Shop;
    before(async () => {
      shop = await newShop();
      for (let i = 0; i < 2; i++) await buildSession(app.db, shop.accountId);
    });

    for (const expand of [
      'expand[]=data.line_items',
      'expand[0]=data.line_items',
      'expand=data.line_items',
      'expand[]=data.line_items&expand[]=data.line_items',
    ]) {
      it(`hold the line items of each session with ?${expand}`, async () => {
        const { data } = await read(shop.api, `${SESSIONS}?${expand}`);
        for (const session of data) {
          const single = await shop.api.get(`${SESSIONS}/${session.id}?expand[]=line_items`).expect(200);
          assert.deepEqual(session, single.body);
        }
      });
    }

    it('leave them out otherwise', async () => {
      for (const query of ['', '?expand=', '?limit=1']) {
        for (const session of (await read(shop.api, SESSIONS + query)).data)
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
      ['expand[a]=data.line_items', 'parameter_invalid', 'expand'],
    ];
    for (const [query, code, param] of refused) {
      it(`refuse ?${query}`, async () => {
        assertInvalid(await shop.api.get(`${SESSIONS}?${query}`), code, param);
      });
    }
  });

  describe('line items alone', () => {
    it('are the same from the list as expanded', async () => {
      const shop = await newShop();
      const { id } = await buildSession(app.db, shop.accountId);
      const list = await read(shop.api, `${SESSIONS}/${id}/line_items`);
      const { body } = await shop.api.get(`${SESSIONS}/${id}?expand[]=line_items`).expect(200);
      assert.deepEqual(body.line_items, list);
    });

    it('can be listed whatever became of the session', async () => {
      const shop = await newShop();
      for (const status of ['open', 'processing', 'complete', 'expired'] as const) {
        const { id } = await buildSession(app.db, shop.accountId, { status });
        assert.equal((await read(shop.api, `${SESSIONS}/${id}/line_items`)).data.length, 1);
      }
    });

    it('are refused with a 404 for the session before one for the cursor', async () => {
      const shop = await newShop();
      const path = `${SESSIONS}/${newId('cs_test_')}/line_items?starting_after=li_1`;
      assertMissing(await shop.api.get(path), 'id');
    });
  });

  describe('unknown query parameters', () => {
    it('are refused behind a second question mark', async () => {
      const { api } = await newShop();
      assertInvalid(await api.get(`${SESSIONS}??limit=1`), 'parameter_unknown', '?limit');
    });

    it('are refused on every request, POST and DELETE included, and nothing happens', async () => {
      const shop = await newShop();
      const { id } = await buildSession(app.db, shop.accountId);
      const order = { line_items: [{ price_data: { unit_amount: 1, product_data: { name: 'A' } } }] };
      const made = await shop.api.post(ENDPOINTS, { url: 'https://1.1.1.1/' }).expect(200);
      const we = `${ENDPOINTS}/${made.body.id}`;
      for (const name of ['foo', 'limit', 'expand', 'line_items', 'url']) {
        for (const test of [
          shop.api.post(`${SESSIONS}?${name}=1`, order),
          shop.api.post(`${SESSIONS}/${id}/expire?${name}=1`),
          shop.api.post(`${ENDPOINTS}?${name}=1`, { url: 'https://1.1.1.1/' }),
          shop.api.post(`${we}?${name}=1`, { disabled: true }),
          shop.api.delete(`${we}?${name}=1`),
          shop.api.get(`${we}?${name}=1`),
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
