import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { buildMerchant } from '../../lab/world/shop/factories.js';
import { Event } from '../../shared/webhooks/model.js';
import { assertBothInvalid, assertInvalid, client, formText, withoutIds } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { coffee, createOpen, minimal, SESSIONS } from '../support/orders.js';
import { TEXT_NAMES } from '../support/session-fields.js';
import { stopClock } from '../support/stopped-clock.js';

describe('checkout sessions', () => {
  const app = forAllTests(openTestApp);
  const api = forAllTests(async () => client(app, (await buildMerchant(app.db)).testKey));
  afterEach(() => mock.restoreAll());

  describe('success_url', () => {
    const templates = {
      'the template': 'https://shop.example/{CHECKOUT_SESSION_ID}',
      'a percent-encoded template': 'https://shop.example/%7BCHECKOUT_SESSION_ID%7D',
      'a template in lower-case percent-encoding': 'https://shop.example/%7bCHECKOUT_SESSION_ID%7d',
    };
    for (const [name, url] of Object.entries(templates)) {
      it(`replaces ${name} in every representation`, async () => {
        for (const send of ['post', 'form'] as const) {
          const { body } = await api[send](SESSIONS, { ...minimal, success_url: url }).expect(200);
          const filled = `https://shop.example/${body.id}`;
          assert.equal(body.success_url, filled);
          assert.equal((await api.get(`${SESSIONS}/${body.id}`)).body.success_url, filled);
          assert.equal((await api.get(`${SESSIONS}?limit=1`)).body.data[0].success_url, filled);
          assert.equal((await api.post(`${SESSIONS}/${body.id}/expire`)).body.success_url, filled);
          const event = await Event.query(app.db).findOne({ payableId: body.id }).throwIfNotFound();
          assert.equal(Reflect.get(event.object, 'success_url'), filled);
        }
      });
    }

    it('replaces every template, and nothing else', async () => {
      const url = 'https://shop.example/{CHECKOUT_SESSION_ID}?a={CHECKOUT_SESSION_ID}&b={OTHER}';
      const { id, success_url } = await createOpen(api, { ...minimal, success_url: url });
      assert.equal(success_url, `https://shop.example/${id}?a=${id}&b={OTHER}`);
    });

    it('alone is replaced: the template in cancel_url stays', async () => {
      const url = 'https://shop.example/{CHECKOUT_SESSION_ID}';
      assert.equal((await createOpen(api, { ...minimal, cancel_url: url })).cancel_url, url);
    });

    for (const field of ['success_url', 'cancel_url']) {
      for (const url of [
        'ftp://shop.example/',
        'javascript:alert(1)',
        'JavaScript://shop.example/%0aalert(1)',
        'data:text/html,hi',
        '//shop.example/thanks',
        '/thanks',
        'shop.example/thanks',
        'https:shop.example',
        'https:///shop.example',
        'https://',
        'https://shop.example:99999/',
        'https://shop example/',
        ' https://shop.example/',
        'https://shop.example/\n',
        ...['\r\nSet-Cookie: a=b', '\u0085x', '\u2028x', '\tx', '\u007f', ' x', '\\x'].map(
          (text) => `https://shop.example/${text}`,
        ),
        'https:\\\\shop.example\\',
        'java\tscript:alert(1)',
      ]) {
        it(`refuses ${JSON.stringify(url)} as ${field}`, async () => {
          await assertBothInvalid(api, SESSIONS, { ...minimal, [field]: url }, 'url_invalid', field);
        });
      }
      for (const url of [
        'http://shop.example',
        'https://shop.example:8443/a?b=c#d',
        'HTTPS://Shop.Example/',
        'http://[::1]:3000/',
        'https://xn--bcher-kva.example/%E2%82%AC',
        'https://shop.example/%0d%0aSet-Cookie:%20a=b',
      ]) {
        it(`accepts ${url} as ${field}, unchanged`, async () => {
          assert.equal((await createOpen(api, { ...minimal, [field]: url }))[field], url);
        });
      }
    }
  });

  describe('metadata', () => {
    it('drops a key whose value is empty', async () => {
      const metadata = { a: '1', b: '', c: null };
      assert.deepEqual((await createOpen(api, { ...minimal, metadata })).metadata, { a: '1' });
      const form = await api.form(SESSIONS, { ...minimal, metadata }).expect(200);
      assert.deepEqual(form.body.metadata, { a: '1' });
    });

    it('keeps the order of keys, and has no special keys', async () => {
      const keys = ['z', 'a', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length'];
      const metadata = `{${keys.map((key) => `"${key}":"v-${key}"`).join(',')}}`;
      const lineItems = JSON.stringify(minimal.line_items);
      const json = await api.post(SESSIONS, `{"line_items":${lineItems},"metadata":${metadata}}`).expect(200);
      const pairs = keys.map((key) => `metadata[${key}]=v-${key}`).join('&');
      const form = await api.form(SESSIONS, `${formText(minimal)}&${pairs}`).expect(200);
      for (const { text, body } of [json, form]) {
        assert.ok(text.includes(`"metadata":${metadata}`), text);
        assert.equal((await api.get(`${SESSIONS}/${body.id}`)).text, text);
      }
    });

    it('keeps values of a form as text: 007, true, 1e3', async () => {
      const pairs = 'metadata[a]=007&metadata[b]=true&metadata[c]=1e3&metadata[d]=%20x%20&metadata[e]=a+b';
      const { body } = await api.form(SESSIONS, `${formText(minimal)}&${pairs}`).expect(200);
      assert.deepEqual(body.metadata, { a: '007', b: 'true', c: '1e3', d: ' x ', e: 'a b' });
    });
  });

  describe('an amount', () => {
    it('as unit_amount_decimal equals the same unit_amount', async () => {
      stopClock();
      const decimal = {
        line_items: [{ price_data: { unit_amount_decimal: '450', product_data: { name: 'Coffee' } } }],
      };
      const expected = withoutIds(await api.post(SESSIONS, { ...minimal, expand: ['line_items'] }));
      for (const send of ['post', 'form'] as const) {
        assert.equal(withoutIds(await api[send](SESSIONS, { ...decimal, expand: ['line_items'] })), expected);
      }
    });

    it('is refused in unit_amount_decimal as a JSON number', async () => {
      const body = {
        line_items: [{ price_data: { unit_amount_decimal: 450, product_data: { name: 'A' } } }],
      };
      const param = 'line_items[0][price_data][unit_amount_decimal]';
      assertInvalid(await api.post(SESSIONS, body), 'parameter_invalid', param);
    });

    it('is refused when both amounts are sent, even if they are equal or zero', async () => {
      for (const [amount, decimal] of [
        [450, '450'],
        [0, '0'],
        [1, '2'],
      ]) {
        const priceData = { unit_amount: amount, unit_amount_decimal: decimal, product_data: { name: 'A' } };
        const body = { line_items: [coffee, { price_data: priceData }] };
        for (const send of ['post', 'form'] as const) {
          const res = await api[send](SESSIONS, body);
          assertInvalid(res, 'parameters_exclusive', 'line_items[1][price_data][unit_amount_decimal]');
        }
      }
    });
  });

  describe('null and the empty string', () => {
    const optional = ['mode', ...TEXT_NAMES, 'metadata', 'expires_at', 'payment_method_types', 'expand'];
    for (const field of optional) {
      it(`mean that ${field} was not sent`, async () => {
        stopClock();
        const expected = withoutIds(await api.post(SESSIONS, minimal));
        for (const empty of [null, '']) {
          const body = { ...minimal, [field]: empty };
          assert.equal(withoutIds(await api.post(SESSIONS, body)), expected, JSON.stringify(empty));
          assert.equal(withoutIds(await api.form(SESSIONS, body)), expected, 'form');
        }
      });
    }

    it('mean that an optional field of a line item was not sent', async () => {
      stopClock();
      const expected = withoutIds(await api.post(SESSIONS, { ...minimal, expand: ['line_items'] }));
      for (const empty of [null, '']) {
        const productData = { name: 'Coffee', description: empty, images: empty };
        const priceData = {
          currency: empty,
          unit_amount: 450,
          unit_amount_decimal: empty,
          product_data: productData,
        };
        const body = { line_items: [{ price_data: priceData, quantity: empty }], expand: ['line_items'] };
        assert.equal(withoutIds(await api.post(SESSIONS, body)), expected);
        assert.equal(withoutIds(await api.form(SESSIONS, body)), expected);
      }
    });

    const required: [param: string, body: (empty: '' | null) => object][] = [
      ['line_items', (empty) => ({ line_items: empty })],
      ['line_items[0]', (empty) => ({ line_items: [empty] })],
      ['line_items[0][price_data]', (empty) => ({ line_items: [{ price_data: empty }] })],
      [
        'line_items[0][price_data][product_data]',
        (empty) => ({ line_items: [{ price_data: { unit_amount: 1, product_data: empty } }] }),
      ],
      [
        'line_items[0][price_data][product_data][name]',
        (empty) => ({ line_items: [{ price_data: { unit_amount: 1, product_data: { name: empty } } }] }),
      ],
      [
        'line_items[0][price_data][product_data][images][1]',
        (empty) => ({
          line_items: [
            {
              price_data: {
                unit_amount: 1,
                product_data: { name: 'A', images: ['https://img.example/a.png', empty] },
              },
            },
          ],
        }),
      ],
      ['expand[0]', (empty) => ({ ...minimal, expand: [empty] })],
      ['payment_method_types[0]', (empty) => ({ ...minimal, payment_method_types: [empty] })],
    ];
    for (const [param, body] of required) {
      it(`are refused for ${param}`, async () => {
        assertInvalid(await api.post(SESSIONS, body(null)), 'parameter_invalid_empty', param);
        await assertBothInvalid(api, SESSIONS, body(''), 'parameter_invalid_empty', param);
      });
    }
  });
});
