import assert from 'node:assert/strict';
import type { Test } from 'supertest';
import { buildMerchant, buildSession } from '../../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { WebhookEndpoint } from '../../../shared/webhooks/model.js';
import { assertRefusal, client, formText } from '../../support/api-client.js';
import { openTestApp } from '../../support/app.js';
import { forAllTests, forEachTest } from '../../support/hooks.js';
import {
  assertReplay,
  assertReused,
  buildKeyedShop,
  hooks,
  keyed,
  PRIVATE,
} from '../../support/keyed-shop.js';
import { coffee, ENDPOINTS, minimal, SESSIONS } from '../../support/orders.js';

describe('Idempotency-Key', () => {
  const app = forAllTests(() => openTestApp(PRIVATE));
  const shop = forEachTest(() => buildKeyedShop(app));

  describe('takes as the same request', () => {
    const rich = {
      mode: 'payment',
      line_items: [
        {
          price_data: {
            currency: 'usd',
            unit_amount: 1999,
            product_data: { name: 'Träume 🥐', images: ['https://img.example/a.png'] },
          },
          quantity: 3,
        },
      ],
      metadata: { a: '1', b: '2' },
      client_reference_id: 'order 7',
      expand: ['line_items'],
    };
    const [item = assert.fail()] = rich.line_items;

    const same: [why: string, send: () => Test][] = [
      ['the other encoding', () => shop.test.form(SESSIONS, rich)],
      [
        'another order of keys',
        () =>
          shop.test.post(SESSIONS, {
            ...Object.fromEntries(Object.entries(rich).reverse()),
            metadata: { b: '2', a: '1' },
          }),
      ],
      [
        'another order of pairs in a form',
        () => shop.test.form(SESSIONS, formText(rich).split('&').reverse().join('&')),
      ],
      [
        'null for an absent parameter',
        () => shop.test.post(SESSIONS, { ...rich, customer_email: null, expires_at: null }),
      ],
      [
        "'' for an absent parameter",
        () => shop.test.post(SESSIONS, { ...rich, customer_email: '', success_url: '' }),
      ],
      [
        "'' and null deep inside",
        () =>
          shop.test.post(SESSIONS, {
            ...rich,
            line_items: [
              {
                ...item,
                price_data: {
                  ...item.price_data,
                  unit_amount_decimal: '',
                  product_data: { ...item.price_data.product_data, description: null },
                },
              },
            ],
            metadata: { ...rich.metadata, c: '', d: null },
          }),
      ],
      ["'' in a form", () => shop.test.form(SESSIONS, `${formText(rich)}&customer_email=&metadata[c]=`)],
      [
        'another array index',
        () => shop.test.form(SESSIONS, formText(rich).replaceAll('items[0]', 'items[7]')),
      ],
      [
        'a[] for a[0]',
        () => shop.test.form(SESSIONS, formText(rich).replaceAll('[images][0]', '[images][]')),
      ],
      ['a= for a[0]=', () => shop.test.form(SESSIONS, formText(rich).replace('expand[0]', 'expand'))],
      [
        'brackets that are percent-encoded',
        () => shop.test.form(SESSIONS, formText(rich).replaceAll('[', '%5B').replaceAll(']', '%5D')),
      ],
      ['+ for %20', () => shop.test.form(SESSIONS, formText(rich).replaceAll('%20', '+'))],
      ['white space in JSON', () => shop.test.post(SESSIONS, JSON.stringify(rich, null, 4))],
      [
        'escapes in JSON',
        () => shop.test.post(SESSIONS, JSON.stringify(rich).replace('Träume', 'Tr\\u00e4ume')),
      ],
      ['1999.0', () => shop.test.post(SESSIONS, JSON.stringify(rich).replace('1999', '1999.0'))],
      ['1.999e3', () => shop.test.post(SESSIONS, JSON.stringify(rich).replace('1999', '1.999e3'))],
      ['USD', () => shop.test.post(SESSIONS, JSON.stringify(rich).replace('"usd"', '"USD"'))],
      [
        'a charset in the content type',
        () => shop.test.post(SESSIONS, rich).set('Content-Type', 'application/json; charset=utf-8'),
      ],
      ['another version header', () => shop.test.post(SESSIONS, rich).set('Stripe-Version', '2019-01-01')],
    ];
    for (const [why, send] of same) {
      it(why, async () => {
        const first = await shop.create(rich);
        assertReplay(await keyed(send()), first);
        assert.equal((await shop.sessions()).length, 1);
      });
    }

    it('empty objects and arrays for absent ones, which a form cannot send', async () => {
      const first = await shop.create({ ...minimal, metadata: {}, expand: [], payment_method_types: [] });
      assertReplay(await shop.create(minimal), first);
      assertReplay(await keyed(shop.test.form(SESSIONS, minimal)), first);
    });

    it('an id whose characters are percent-encoded', async () => {
      const { id } = await buildSession(app.db, shop.accountId);
      const first = await keyed(shop.test.post(`${SESSIONS}/${id}/expire`)).expect(200);
      assertReplay(await keyed(shop.test.post(`${SESSIONS}/${id.replaceAll('_', '%5F')}/expire`)), first);
    });

    it('no body, {} and an empty form, on expire', async () => {
      const { id } = await buildSession(app.db, shop.accountId);
      const path = `${SESSIONS}/${id}/expire`;
      const first = await keyed(shop.test.post(path));
      assertReplay(await keyed(shop.test.post(path, {})), first);
      assertReplay(await keyed(shop.test.form(path, '')), first);
    });

    const other: [why: string, body: object][] = [
      ['a changed value', { ...rich, client_reference_id: 'order 8' }],
      ['white space in a value', { ...rich, client_reference_id: 'order 7 ' }],
      ['an added parameter', { ...rich, customer_email: 'buyer@mail.example' }],
      ['a missing parameter', { ...rich, client_reference_id: null }],
      ['a default that is spelled out', { ...rich, payment_method_types: ['crypto'] }],
      ['another quantity', { ...rich, line_items: [{ ...item, quantity: 4 }] }],
      ['another item', { ...rich, line_items: [item, item] }],
      ['another metadata value', { ...rich, metadata: { a: '1', b: '3' } }],
      ['another metadata key', { ...rich, metadata: { a: '1', B: '2' } }],
      ['swapped metadata values', { ...rich, metadata: { a: '2', b: '1' } }],
      ['no expand', { ...rich, expand: [] }],
    ];
    for (const [why, body] of other) {
      it(`not ${why}`, async () => {
        await shop.create(rich).expect(200);
        assertReused(await shop.create(body));
        assertReused(await keyed(shop.test.form(SESSIONS, body)));
        assert.equal((await shop.sessions()).length, 1);
      });
    }

    it('not items in another order', async () => {
      const tea = { price_data: { unit_amount: 300, product_data: { name: 'Tea' } } };
      await shop.create({ line_items: [coffee, tea] }).expect(200);
      assertReused(await shop.create({ line_items: [tea, coffee] }));
    });

    it('not metadata with the same values under another key, __proto__ included', async () => {
      const metadata = (name: string): string =>
        `{"line_items":${JSON.stringify(minimal.line_items)},"metadata":{"${name}":"v","x":"w"}}`;
      await keyed(shop.test.post(SESSIONS, metadata('__proto__'))).expect(200);
      for (const name of ['constructor', '0', '']) {
        assertReused(await keyed(shop.test.post(SESSIONS, metadata(name))));
      }
      assert.equal(
        (await keyed(shop.test.post(SESSIONS, metadata('__proto__')))).get('Idempotent-Replayed'),
        'true',
      );
    });

    it('not an update that clears a parameter and one without the parameter', async () => {
      const { id } = (await shop.test.post(ENDPOINTS, { ...hooks, description: 'Old' })).body;
      const cleared = await keyed(shop.test.post(`${ENDPOINTS}/${id}`, { description: null }));
      assert.equal(cleared.body.description, null);
      assertReplay(await keyed(shop.test.post(`${ENDPOINTS}/${id}`, { description: '' })), cleared);
      assertReplay(await keyed(shop.test.form(`${ENDPOINTS}/${id}`, 'description=')), cleared);
      assertReused(await keyed(shop.test.post(`${ENDPOINTS}/${id}`, {})));
    });

    it('an update that clears a list by [], null or an empty value, and not one without the list', async () => {
      const { id } = (await shop.test.post(ENDPOINTS, { ...hooks, enabled_events: ['refund.created'] })).body;
      const path = `${ENDPOINTS}/${id}`;
      const kept = await keyed(shop.test.post(path, {}), 'kept');
      assert.deepEqual(kept.body.enabled_events, ['refund.created']);
      assertReused(await keyed(shop.test.post(path, { enabled_events: [] }), 'kept'));
      const cleared = await keyed(shop.test.post(path, { enabled_events: [] }));
      assert.deepEqual(cleared.body.enabled_events, ['*']);
      assertReplay(await keyed(shop.test.post(path, { enabled_events: null })), cleared);
      assertReplay(await keyed(shop.test.form(path, 'enabled_events=')), cleared);
      assertReused(await keyed(shop.test.post(path, {})));
    });
  });

  describe('is scoped to', () => {
    it('one path: on any other path it is idempotency_key_reused, even where the path itself would be refused', async () => {
      await shop.create().expect(200);
      const [a, b] = [await buildSession(app.db, shop.accountId), await buildSession(app.db, shop.accountId)];
      assertReused(await keyed(shop.test.post(ENDPOINTS, hooks)));
      assertReused(await keyed(shop.test.post(`${SESSIONS}/${a.id}/expire`)));
      assertReused(await keyed(shop.test.post(`${SESSIONS}/cs_test_nothing/expire`)));
      await keyed(shop.test.post(`${SESSIONS}/${a.id}/expire`), 'expire').expect(200);
      assertReused(await keyed(shop.test.post(`${SESSIONS}/${b.id}/expire`), 'expire'));
      const states = await CheckoutSession.query(app.db).findByIds([a.id, b.id]).orderBy('id');
      assert.deepEqual(
        states.map(({ status }) => status),
        ['expired', 'open'],
      );
      assert.equal(await WebhookEndpoint.query(app.db).where({ accountId: shop.accountId }).resultSize(), 0);
    });

    it('one account and one mode', async () => {
      const stranger = await buildMerchant(app.db);
      const ids = new Set<string>();
      for (const key of [shop.testKey, shop.liveKey, stranger.testKey, stranger.liveKey]) {
        const mine = client(app, key);
        const first = await keyed(mine.post(SESSIONS, minimal));
        assertReplay(await keyed(mine.post(SESSIONS, minimal)), first);
        ids.add(first.body.id);
      }
      assert.equal(ids.size, 4);
    });

    it('its exact characters: case, white space and escapes count', async () => {
      const keys = ['a', 'A', 'a b', "a'b", 'a"b', 'a\\b', 'a;--', 'é', 'Ã©', '%61', 'ÿ'];
      const ids = new Set<string>();
      for (const key of keys) {
        const first = await shop.create(minimal, key);
        assertReplay(await shop.create(minimal, key), first);
        ids.add(first.body.id);
      }
      assert.equal(ids.size, keys.length);
    });
  });

  describe('of 255 characters is accepted and of 256 refused', () => {
    const paths: [path: string, body: object][] = [
      [SESSIONS, minimal],
      [ENDPOINTS, hooks],
    ];
    for (const [path, body] of paths) {
      it(`on ${path}`, async () => {
        const first = await keyed(shop.test.post(path, body), 'k'.repeat(255));
        assertReplay(await keyed(shop.test.post(path, body), 'k'.repeat(255)), first);
        const refused = await keyed(shop.test.post(path, body), 'k'.repeat(256));
        assertRefusal(refused, 400, 'idempotency_key_invalid');
        assert.equal((await shop.records()).length, 1);
      });
    }

    it('on expire, where the refused request changes nothing', async () => {
      const { id } = await buildSession(app.db, shop.accountId);
      const refused = await keyed(shop.test.post(`${SESSIONS}/${id}/expire`), 'k'.repeat(256));
      assertRefusal(refused, 400, 'idempotency_key_invalid');
      assert.equal((await CheckoutSession.query(app.db).findById(id))?.status, 'open');
    });
  });
});
