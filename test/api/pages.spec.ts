import assert from 'node:assert/strict';
import {
  buildEndpoints,
  buildPaidSession,
  buildSession,
  buildSessions,
} from '../../lab/world/shop/factories.js';
import { newId } from '../../shared/values/ids.js';
import { assertInvalid, assertMissing, type Client } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { ENDPOINTS, PAYMENTS, SESSIONS } from '../support/orders.js';
import { idsOf, readPage } from '../support/pages.js';
import { buildShop, type Shop } from '../support/shop.js';

/** A list of seven objects, newest first, for each endpoint that pages. */
interface Listed {
  path: string;
  ids: string[];
  api: Client;
}

describe('pages', () => {
  const app = forAllTests(openTestApp);

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
      const ids = await buildEndpoints(app.db, accountId, 7);
      return { path: ENDPOINTS, ids: ids.reverse() };
    },
    // Line items are in the order of the body, not newest first; pages work the same.
    'line items': async ({ test: api }) => {
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
        const shop = await buildShop(app);
        listed = { api: shop.test, ...(await build(shop)) };
      });

      it('are complete when they fit, with the path of the list', async () => {
        const { api, path, ids } = listed;
        for (const query of ['', '?limit=7', '?limit=8', '?limit=100']) {
          const page = await readPage(api, path + query);
          assert.deepEqual(page, { object: 'list', url: path, has_more: false, data: page.data });
          assert.deepEqual(idsOf(page), ids);
        }
      });

      for (const limit of [1, 2, 3, 6, 7, 8]) {
        it(`of ${limit} join up to the complete list, forwards and backwards`, async () => {
          const { api, path, ids } = listed;
          const forwards: string[] = [];
          for (let cursor = ''; ; ) {
            const page = await readPage(api, `${path}?limit=${limit}${cursor}`);
            forwards.push(...idsOf(page));
            assert.equal(page.has_more, forwards.length < ids.length);
            if (!page.has_more) break;
            cursor = `&starting_after=${forwards.at(-1)}`;
          }
          assert.deepEqual(forwards, ids);

          const backwards: string[] = [];
          for (let cursor = ids.at(-1); ; cursor = backwards[0]) {
            const page = await readPage(api, `${path}?limit=${limit}&ending_before=${cursor}`);
            backwards.unshift(...idsOf(page));
            assert.equal(page.has_more, backwards.length < ids.length - 1);
            if (!page.has_more) break;
          }
          assert.deepEqual(backwards, ids.slice(0, -1));
        });
      }

      it('are the nearest ones before ending_before, not the first of the list', async () => {
        const { api, path, ids } = listed;
        const page = await readPage(api, `${path}?limit=2&ending_before=${ids[5]}`);
        assert.deepEqual([idsOf(page), page.has_more], [ids.slice(3, 5), true]);
      });

      it('are empty beyond either end', async () => {
        const { api, path, ids } = listed;
        for (const query of [`starting_after=${ids.at(-1)}`, `ending_before=${ids[0]}`]) {
          const page = await readPage(api, `${path}?${query}`);
          assert.deepEqual([page.data, page.has_more], [[], false]);
        }
      });

      it('treat empty parameters as not sent', async () => {
        const { api, path, ids } = listed;
        const page = await readPage(api, `${path}?limit=&starting_after=&ending_before=`);
        assert.deepEqual(idsOf(page), ids);
      });

      for (const param of ['starting_after', 'ending_before']) {
        for (const [kind, cursor] of Object.entries({
          'of an object that does not exist': () => newId('cs_test_'),
          'without its random part': ({ ids }: Listed) => ids[2]?.slice(0, -17),
          'in upper case': ({ ids }: Listed) => ids[2]?.toUpperCase(),
          'with a character appended': ({ ids }: Listed) => `${ids[2]}x`,
          'that is not an id': () => 'x',
          'that is SQL': () => "'%20OR%201=1--",
          'that is a pattern': () => '%25',
          'of 255 characters': () => 'c'.repeat(255),
        })) {
          it(`refuse a ${param} ${kind}`, async () => {
            assertMissing(await listed.api.get(`${listed.path}?${param}=${cursor(listed)}`), param);
          });
        }

        it(`refuse a ${param} that is repeated, in brackets or with U+0000 in it`, async () => {
          const { api, path, ids } = listed;
          const [id] = ids;
          assertInvalid(await api.get(`${path}?${param}=${id}&${param}=${id}`), 'parameter_invalid', param);
          assertInvalid(await api.get(`${path}?${param}[]=${id}`), 'parameter_invalid', param);
          assertInvalid(await api.get(`${path}?${param}=${id}%00`), 'parameter_invalid_string', param);
        });
      }

      it('refuse two cursors, whatever they are', async () => {
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

      it('refuse unknown parameters', async () => {
        const { api, path } = listed;
        for (const name of ['offset', 'page', 'Limit', 'order', '__proto__', 'constructor']) {
          assertInvalid(await api.get(`${path}?${name}=1`), 'parameter_unknown', name);
        }
      });
    });
  }

  it('of sessions are consistent while sessions are created', async () => {
    const shop = await buildShop(app);
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) ids.unshift((await buildSession(app.db, shop.accountId)).id);
    const first = await readPage(shop.test, `${SESSIONS}?limit=2`);
    const newer = (await buildSession(app.db, shop.accountId)).id;
    const second = await readPage(shop.test, `${SESSIONS}?limit=2&starting_after=${idsOf(first)[1]}`);
    assert.deepEqual([...idsOf(first), ...idsOf(second)], ids);
    const back = await readPage(shop.test, `${SESSIONS}?ending_before=${ids[0]}`);
    assert.deepEqual(idsOf(back), [newer]);
  });

  describe('line items', () => {
    it('are the same listed and expanded', async () => {
      const shop = await buildShop(app);
      const { id } = await buildSession(app.db, shop.accountId);
      const list = await readPage(shop.test, `${SESSIONS}/${id}/line_items`);
      const { body } = await shop.test.get(`${SESSIONS}/${id}?expand[]=line_items`).expect(200);
      assert.deepEqual(body.line_items, list);
    });

    it('can be listed in every status of the session', async () => {
      const shop = await buildShop(app);
      for (const status of ['open', 'processing', 'complete', 'expired'] as const) {
        const { id } = await buildSession(app.db, shop.accountId, { status });
        assert.equal((await readPage(shop.test, `${SESSIONS}/${id}/line_items`)).data.length, 1);
      }
    });

    it('refuse a line item of another session as a cursor', async () => {
      const shop = await buildShop(app);
      const [one, two] = await buildSessions(app.db, shop.accountId, 2);
      const path = `${SESSIONS}/${one?.id}/line_items`;
      for (const param of ['starting_after', 'ending_before'])
        assertMissing(await shop.test.get(`${path}?${param}=${two?.lineItems?.[0]?.id}`), param);
    });

    it('answer 404 for the session before one for the cursor', async () => {
      const shop = await buildShop(app);
      const path = `${SESSIONS}/${newId('cs_test_')}/line_items?starting_after=li_1`;
      assertMissing(await shop.test.get(path), 'id');
    });
  });
});
