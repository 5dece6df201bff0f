import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { nowMs } from '../../shared/clock.js';
import { Event } from '../../shared/models/event.js';
import { assertInvalid, type Client, client, formText, withoutIds } from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import {
  buildMerchant,
  buildPaidSession,
  buildSession,
  EVM_WALLET,
  type Merchant,
} from '../support/factories.js';

const SESSIONS = '/v1/checkout/sessions';

const coffee = { price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } };
const minimal = { line_items: [coffee] };

/** Every field of the API, each with a value that is not its default. */
const everything = {
  mode: 'payment',
  line_items: [
    {
      price_data: {
        currency: 'usd',
        unit_amount: 1999,
        product_data: {
          name: 'Träume & “Schäume” 🥐',
          description: 'Two of them = 100% more + fun',
          images: ['https://img.example/a.png?x=1&y=[2]', 'https://img.example/b.png'],
        },
      },
      quantity: 3,
    },
    { price_data: { unit_amount_decimal: '25', product_data: { name: 'Tip' } } },
  ],
  success_url: 'https://shop.example/thanks?order=7&cs={CHECKOUT_SESSION_ID}#top',
  cancel_url: 'http://localhost:8080/cart',
  client_reference_id: 'order-7',
  customer_email: 'buyer+7@mail.example',
  metadata: { 'order id': '7', count: '007', flag: 'true', 'ключ/~1': 'знач=&+;' },
  payment_method_types: ['crypto'],
  expand: ['line_items'],
};

describe('checkout sessions', () => {
  let app: TestApp;
  let shop: Merchant;
  let api: Client;
  before(async () => {
    app = await openTestApp();
    shop = await buildMerchant(app.db);
    api = client(app, shop.testKey);
  });
  after(() => app.close());
  afterEach(() => mock.restoreAll());

  /** The clock stands still until the end of the test. */
  function stopClock(): number {
    const stoppedAt = Date.now();
    const ahead = nowMs() - stoppedAt;
    mock.method(Date, 'now', () => stoppedAt);
    return stoppedAt + ahead;
  }

  async function createOpen(body: object = minimal): Promise<{ id: string; [field: string]: unknown }> {
    const res = await api.post(SESSIONS, body);
    assert.equal(res.status, 200, res.text);
    return res.body;
  }

  describe('created', () => {
    it('is open and unpaid, with every default', async () => {
      const at = stopClock();
      const { body } = await api.post(SESSIONS, minimal).expect(200);
      const { id, created, ...rest } = body;
      assert.match(id, /^cs_test_[A-Za-z0-9]{20,}$/);
      assert.ok(created >= Math.floor(at / 1000));
      assert.deepEqual(rest, {
        object: 'checkout.session',
        amount_subtotal: 450,
        amount_total: 450,
        cancel_url: null,
        client_reference_id: null,
        currency: 'usd',
        customer_email: null,
        expires_at: Math.floor(at / 1000) + 24 * 3600,
        livemode: false,
        metadata: {},
        mode: 'payment',
        payment_method_types: ['crypto'],
        payment_status: 'unpaid',
        status: 'open',
        success_url: null,
        url: `https://pay.example/c/${id}`,
        payment: null,
      });
    });

    it('carries everything that was sent', async () => {
      const { body } = await api.post(SESSIONS, everything).expect(200);
      assert.equal(body.amount_total, 3 * 1999 + 25);
      assert.equal(body.amount_subtotal, body.amount_total);
      assert.equal(body.success_url, `https://shop.example/thanks?order=7&cs=${body.id}#top`);
      for (const field of ['cancel_url', 'client_reference_id', 'customer_email', 'metadata'] as const) {
        assert.deepEqual(body[field], everything[field], field);
      }
      const list = body.line_items;
      assert.equal(list.url, `${SESSIONS}/${body.id}/line_items`);
      assert.equal(list.has_more, false);
      const [first, second] = list.data;
      const { id, ...item } = first;
      assert.match(id, /^li_[A-Za-z0-9]{20,}$/);
      assert.deepEqual(item, {
        object: 'item',
        amount_subtotal: 5997,
        amount_total: 5997,
        currency: 'usd',
        description: 'Träume & “Schäume” 🥐',
        quantity: 3,
        price: {
          object: 'price',
          currency: 'usd',
          unit_amount: 1999,
          product_data: everything.line_items[0]?.price_data.product_data,
        },
      });
      assert.deepEqual(
        [second.quantity, second.price.unit_amount, second.price.product_data],
        [1, 25, { name: 'Tip', description: null, images: [] }],
      );
    });

    it('is the same, byte for byte, when it is retrieved', async () => {
      const created = await api.post(SESSIONS, everything).expect(200);
      const retrieved = await api.get(`${SESSIONS}/${created.body.id}?expand[]=line_items`).expect(200);
      assert.equal(retrieved.text, created.text);
    });

    it('is the same, byte for byte, from JSON and from a form', async () => {
      stopClock();
      const json = await api.post(SESSIONS, everything);
      const form = await api.form(SESSIONS, everything);
      assert.equal(withoutIds(form), withoutIds(json));
      assert.equal(
        withoutIds(await api.form(SESSIONS, minimal)),
        withoutIds(await api.post(SESSIONS, minimal)),
      );
    });

    for (const [name, [first, second]] of Object.entries({
      'JSON, then a form': ['post', 'form'],
      'a form, then JSON': ['form', 'post'],
    } as const)) {
      it(`replays one Idempotency-Key over ${name}, byte for byte`, async () => {
        const key = `over-both-${first}`;
        const original = await api[first](SESSIONS, everything).set('Idempotency-Key', key).expect(200);
        const again = await api[second](SESSIONS, everything).set('Idempotency-Key', key).expect(200);
        assert.equal(again.text, original.text);
        assert.equal(again.get('Idempotent-Replayed'), 'true');
        assert.equal(original.get('Idempotent-Replayed'), undefined);
      });
    }

    it('is live under a live key', async () => {
      const { body } = await client(app, shop.liveKey).post(SESSIONS, minimal).expect(200);
      assert.match(body.id, /^cs_live_/);
      assert.equal(body.livemode, true);
    });

    it('gets ids that sort by creation and hold letters and digits only', async () => {
      const ids: string[] = [];
      for (let i = 0; i < 5; i++) ids.push((await createOpen()).id);
      assert.deepEqual([...ids].sort(), ids);
      for (const id of ids) assert.match(id, /^cs_test_[A-Za-z0-9]+$/);
    });

    it('ignores the version headers of other clients', async () => {
      for (const header of ['Stripe-Version', 'Service-Version']) {
        await api.post(SESSIONS, minimal).set(header, '2019-01-01').expect(200);
      }
    });

    it('takes a total of 0 cents', async () => {
      const free = { price_data: { unit_amount: 0, product_data: { name: 'Sample' } } };
      assert.equal((await createOpen({ line_items: [free] })).amount_total, 0);
    });

    it('reads currency in any case', async () => {
      const body = { line_items: [{ price_data: { ...coffee.price_data, currency: 'USD' } }] };
      assert.equal((await createOpen(body)).currency, 'usd');
    });

    it('keeps the line items in the order of the body, 100 of them', async () => {
      const names = Array.from({ length: 100 }, (_, i) => `Item ${i}`);
      const items = names.map((name) => ({ price_data: { unit_amount: 1, product_data: { name } } }));
      for (const send of ['post', 'form'] as const) {
        const { body } = await api[send](SESSIONS, { line_items: items, expand: ['line_items'] }).expect(200);
        assert.deepEqual(
          body.line_items.data.map((item: { description: string }) => item.description),
          names,
        );
        assert.equal(body.line_items.has_more, false);
      }
    });

    it('takes a form of over 1,300 pairs: 100 items with all their fields', async () => {
      const images = Array.from({ length: 8 }, (_, i) => `https://img.example/${i}.png`);
      const item = {
        price_data: {
          currency: 'usd',
          unit_amount: 1,
          product_data: { name: 'A', description: 'B', images },
        },
        quantity: 2,
      };
      const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, 'v']));
      const body = { line_items: Array.from({ length: 100 }, () => item), metadata };
      assert.ok(formText(body).split('&').length > 1300);
      const res = await api.form(SESSIONS, body).expect(200);
      assert.equal(res.body.amount_total, 200);
    });

    it('refuses an account without any wallet, and takes one with either', async () => {
      const wallets = { evmWallet: null, solanaWallet: null };
      const none = await buildMerchant(app.db, wallets);
      assertInvalid(await client(app, none.testKey).post(SESSIONS, minimal), 'payout_wallet_missing');
      const evm = await buildMerchant(app.db, { ...wallets, evmWallet: EVM_WALLET });
      await client(app, evm.testKey).post(SESSIONS, minimal).expect(200);
    });
  });

  describe('success_url', () => {
    const templates = {
      'the template': 'https://shop.example/{CHECKOUT_SESSION_ID}',
      'a percent-encoded template': 'https://shop.example/%7BCHECKOUT_SESSION_ID%7D',
      'a template in lower-case percent-encoding': 'https://shop.example/%7bCHECKOUT_SESSION_ID%7d',
    };
    for (const [name, url] of Object.entries(templates)) {
      it(`has ${name} replaced in every representation`, async () => {
        for (const send of ['post', 'form'] as const) {
          const { body } = await api[send](SESSIONS, { ...minimal, success_url: url }).expect(200);
          const filled = `https://shop.example/${body.id}`;
          assert.equal(body.success_url, filled);
          assert.equal((await api.get(`${SESSIONS}/${body.id}`)).body.success_url, filled);
          assert.equal((await api.get(`${SESSIONS}?limit=1`)).body.data[0].success_url, filled);
          assert.equal((await api.post(`${SESSIONS}/${body.id}/expire`)).body.success_url, filled);
          const event = await Event.query(app.db).findOne({ checkoutSessionId: body.id }).throwIfNotFound();
          assert.equal(Reflect.get(event.object, 'success_url'), filled);
        }
      });
    }

    it('has each of several templates replaced, and nothing else', async () => {
      const url = 'https://shop.example/{CHECKOUT_SESSION_ID}?a={CHECKOUT_SESSION_ID}&b={OTHER}';
      const { id, success_url } = await createOpen({ ...minimal, success_url: url });
      assert.equal(success_url, `https://shop.example/${id}?a=${id}&b={OTHER}`);
    });

    it('is the only one: the template in cancel_url stays', async () => {
      const url = 'https://shop.example/{CHECKOUT_SESSION_ID}';
      assert.equal((await createOpen({ ...minimal, cancel_url: url })).cancel_url, url);
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
        'https:\\\\shop.example\\',
        'java\tscript:alert(1)',
      ]) {
        it(`refuses ${JSON.stringify(url)} as ${field}`, async () => {
          for (const send of ['post', 'form'] as const) {
            assertInvalid(await api[send](SESSIONS, { ...minimal, [field]: url }), 'url_invalid', field);
          }
        });
      }
      for (const url of [
        'http://shop.example',
        'https://shop.example:8443/a?b=c#d',
        'HTTPS://Shop.Example/',
        'http://[::1]:3000/',
        'https://xn--bcher-kva.example/%E2%82%AC',
      ]) {
        it(`takes ${url} as ${field}, as it was written`, async () => {
          assert.equal((await createOpen({ ...minimal, [field]: url }))[field], url);
        });
      }
    }
  });

  describe('metadata', () => {
    it('drops a key whose value is empty', async () => {
      const metadata = { a: '1', b: '', c: null };
      assert.deepEqual((await createOpen({ ...minimal, metadata })).metadata, { a: '1' });
      const form = await api.form(SESSIONS, { ...minimal, metadata }).expect(200);
      assert.deepEqual(form.body.metadata, { a: '1' });
    });

    it('keeps keys in their order, and treats none of them as special', async () => {
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

    it('keeps what a form sends as text: 007, true, 1e3', async () => {
      const pairs = 'metadata[a]=007&metadata[b]=true&metadata[c]=1e3&metadata[d]=%20x%20&metadata[e]=a+b';
      const { body } = await api.form(SESSIONS, `${formText(minimal)}&${pairs}`).expect(200);
      assert.deepEqual(body.metadata, { a: '007', b: 'true', c: '1e3', d: ' x ', e: 'a b' });
    });

    for (const value of [7, true, ['a'], { a: 'b' }]) {
      it(`refuses the value ${JSON.stringify(value)} in JSON`, async () => {
        const res = await api.post(SESSIONS, { ...minimal, metadata: { ok: '1', key: value } });
        assertInvalid(res, 'parameter_invalid', 'metadata[key]');
      });
    }

    it('refuses a value in brackets in a form', async () => {
      const res = await api.form(SESSIONS, `${formText(minimal)}&metadata[key][inner]=1`);
      assertInvalid(res, 'parameter_invalid', 'metadata[key]');
    });

    it('is never seen in place of an object', async () => {
      for (const metadata of ['text', 7, true, ['a']]) {
        const res = await api.post(SESSIONS, { ...minimal, metadata });
        assertInvalid(res, 'parameter_invalid', 'metadata');
      }
      assertInvalid(
        await api.form(SESSIONS, `${formText(minimal)}&metadata=x`),
        'parameter_invalid',
        'metadata',
      );
    });
  });

  describe('null and the empty string', () => {
    const optional = [
      'mode',
      'success_url',
      'cancel_url',
      'client_reference_id',
      'customer_email',
      'metadata',
      'expires_at',
      'payment_method_types',
      'expand',
    ];
    for (const field of optional) {
      it(`are as if ${field} was not sent`, async () => {
        stopClock();
        const expected = withoutIds(await api.post(SESSIONS, minimal));
        for (const empty of [null, '']) {
          const body = { ...minimal, [field]: empty };
          assert.equal(withoutIds(await api.post(SESSIONS, body)), expected, JSON.stringify(empty));
          assert.equal(withoutIds(await api.form(SESSIONS, body)), expected, 'form');
        }
      });
    }

    it('are as if an optional part of a line item was not sent', async () => {
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
        (empty) => withProduct({ name: 'A', images: ['https://img.example/a.png', empty] }),
      ],
      ['expand[0]', (empty) => ({ ...minimal, expand: [empty] })],
      ['payment_method_types[0]', (empty) => ({ ...minimal, payment_method_types: [empty] })],
    ];
    for (const [param, body] of required) {
      it(`are refused for ${param}`, async () => {
        assertInvalid(await api.post(SESSIONS, body(null)), 'parameter_invalid_empty', param);
        assertInvalid(await api.post(SESSIONS, body('')), 'parameter_invalid_empty', param);
        assertInvalid(await api.form(SESSIONS, body('')), 'parameter_invalid_empty', param);
      });
    }
  });

  describe('a body', () => {
    const missing: [param: string, body: object][] = [
      ['line_items', {}],
      ['line_items', { line_items: [] }],
      ['line_items[0][price_data]', { line_items: [{ quantity: 2 }] }],
      ['line_items[1][price_data]', { line_items: [coffee, { quantity: 2 }] }],
      ['line_items[0][price_data][product_data]', { line_items: [{ price_data: { unit_amount: 1 } }] }],
      [
        'line_items[0][price_data][unit_amount]',
        { line_items: [{ price_data: { product_data: { name: 'A' } } }] },
      ],
      ['line_items[0][price_data][product_data][name]', withProduct({ description: 'A' })],
    ];
    for (const [param, body] of missing) {
      it(`refuses ${JSON.stringify(body)}: ${param} is missing`, async () => {
        assertInvalid(await api.post(SESSIONS, body), 'parameter_missing', param);
        assertInvalid(await api.form(SESSIONS, body), 'parameter_missing', param);
      });
    }

    it('that is empty is {}, whatever its content type', async () => {
      assertInvalid(await api.post(SESSIONS), 'parameter_missing', 'line_items');
      for (const type of [
        'application/json',
        'application/x-www-form-urlencoded',
        'text/plain',
        'image/png',
      ]) {
        const res = await api.send('post', SESSIONS).set('Content-Type', type).send('');
        assertInvalid(res, 'parameter_missing', 'line_items');
      }
    });

    const unknown: [param: string, body: object][] = [
      ['customer', { ...minimal, customer: 'cus_1' }],
      ['customer', { ...minimal, customer: '' }],
      ['line_items[0][price]', { line_items: [{ ...coffee, price: 'price_1' }] }],
      [
        'line_items[0][price_data][recurring]',
        { line_items: [{ price_data: { ...coffee.price_data, recurring: { interval: 'day' } } }] },
      ],
      ['line_items[0][price_data][product_data][tax_code]', withProduct({ name: 'A', tax_code: 'x' })],
      ['constructor', { ...minimal, constructor: 'x' }],
    ];
    for (const [param, body] of unknown) {
      it(`refuses the unknown parameter ${param}`, async () => {
        assertInvalid(await api.post(SESSIONS, body), 'parameter_unknown', param);
        assertInvalid(await api.form(SESSIONS, body), 'parameter_unknown', param);
      });
    }

    it('refuses the unknown parameter __proto__', async () => {
      const json = `{"__proto__":{"mode":"payment"},${JSON.stringify(minimal).slice(1)}`;
      assertInvalid(await api.post(SESSIONS, json), 'parameter_unknown', '__proto__');
      const form = `${formText(minimal)}&__proto__[mode]=payment`;
      assertInvalid(await api.form(SESSIONS, form), 'parameter_unknown', '__proto__');
    });

    const wrong: [param: string, code: string, body: object][] = [
      ['line_items', 'parameter_invalid', { line_items: 'coffee' }],
      ['line_items', 'parameter_invalid', { line_items: { 0: coffee } }],
      ['line_items[0]', 'parameter_invalid', { line_items: ['coffee'] }],
      ['line_items[0]', 'parameter_invalid', { line_items: [[coffee]] }],
      ['line_items[0][price_data]', 'parameter_invalid', { line_items: [{ price_data: 450 }] }],
      ['line_items[0][price_data][product_data][name]', 'parameter_invalid', withProduct({ name: 7 })],
      ['line_items[0][price_data][product_data][name]', 'parameter_invalid', withProduct({ name: ['A'] })],
      [
        'line_items[0][price_data][product_data][images]',
        'parameter_invalid',
        withProduct({ name: 'A', images: 'https://img.example/a.png' }),
      ],
      [
        'line_items[0][price_data][product_data][images][0]',
        'parameter_invalid',
        withProduct({ name: 'A', images: [7] }),
      ],
      [
        'line_items[0][price_data][currency]',
        'parameter_invalid_enum',
        { line_items: [{ price_data: { ...coffee.price_data, currency: 'eur' } }] },
      ],
      ['mode', 'parameter_invalid_enum', { ...minimal, mode: 'subscription' }],
      [
        'payment_method_types[1]',
        'parameter_invalid_enum',
        { ...minimal, payment_method_types: ['crypto', 'card'] },
      ],
      ['expand[0]', 'parameter_invalid_enum', { ...minimal, expand: ['customer'] }],
      ['expand[1]', 'parameter_invalid_enum', { ...minimal, expand: ['line_items', 'data.line_items'] }],
      ['expand', 'parameter_invalid', { ...minimal, expand: 'line_items' }],
      ['customer_email', 'parameter_invalid', { ...minimal, customer_email: 7 }],
      ['client_reference_id', 'parameter_invalid', { ...minimal, client_reference_id: { a: 'b' } }],
      ['success_url', 'parameter_invalid', { ...minimal, success_url: false }],
    ];
    for (const [param, code, body] of wrong) {
      it(`refuses ${JSON.stringify(body)} as ${code} on ${param}`, async () => {
        assertInvalid(await api.post(SESSIONS, body), code, param);
      });
    }

    for (const email of [
      'buyer',
      'buyer@',
      '@mail.example',
      'a b@mail.example',
      'a@b@mail.example',
      'Buyer <a@mail.example>',
      'a@mail.example,b@mail.example',
      'a@mail.example\n',
    ]) {
      it(`refuses the e-mail address ${JSON.stringify(email)}`, async () => {
        const body = { ...minimal, customer_email: email };
        assertInvalid(await api.post(SESSIONS, body), 'email_invalid', 'customer_email');
        assertInvalid(await api.form(SESSIONS, body), 'email_invalid', 'customer_email');
      });
    }

    for (const image of [
      'http://img.example/a.png',
      'data:image/png;base64,AA==',
      '/a.png',
      'a.png',
      'https://',
    ]) {
      it(`refuses the picture ${image}`, async () => {
        const param = 'line_items[0][price_data][product_data][images][1]';
        const body = withProduct({ name: 'A', images: ['https://img.example/a.png', image] });
        assertInvalid(await api.post(SESSIONS, body), 'url_invalid', param);
        assertInvalid(await api.form(SESSIONS, body), 'url_invalid', param);
      });
    }

    const texts: [param: string, body: (text: string) => object][] = [
      ['client_reference_id', (text) => ({ ...minimal, client_reference_id: text })],
      ['customer_email', (text) => ({ ...minimal, customer_email: `a@mail.example${text}` })],
      ['success_url', (text) => ({ ...minimal, success_url: `https://shop.example/${text}` })],
      ['metadata[key]', (text) => ({ ...minimal, metadata: { key: text } })],
      ['metadata', (text) => ({ ...minimal, metadata: { [text]: 'value' } })],
      ['line_items[0][price_data][product_data][name]', (name) => withProduct({ name })],
      [
        'line_items[0][price_data][product_data][description]',
        (text) => withProduct({ name: 'A', description: text }),
      ],
      [
        'line_items[0][price_data][product_data][images][0]',
        (text) => withProduct({ name: 'A', images: [`https://img.example/${text}`] }),
      ],
    ];
    for (const [param, body] of texts) {
      it(`refuses U+0000 and half of a surrogate pair in ${param}`, async () => {
        for (const text of ['a\0b', '\ud83d', 'a\udc00b']) {
          assertInvalid(await api.post(SESSIONS, body(text)), 'parameter_invalid_string', param);
        }
        assertInvalid(await api.form(SESSIONS, body('a\0b')), 'parameter_invalid_string', param);
      });
    }
  });

  describe('a number', () => {
    const numbers: [param: string, body: (value: unknown) => object][] = [
      ['line_items[0][quantity]', (quantity) => ({ line_items: [{ ...coffee, quantity }] })],
      [
        'line_items[0][price_data][unit_amount]',
        (amount) => ({ line_items: [{ price_data: { ...coffee.price_data, unit_amount: amount } }] }),
      ],
      ['expires_at', (expiresAt) => ({ ...minimal, expires_at: expiresAt })],
    ];
    for (const [param, body] of numbers) {
      for (const value of ['5', 'five', 1.5, true, [5], { a: 5 }]) {
        it(`refuses ${JSON.stringify(value)} in JSON for ${param}`, async () => {
          assertInvalid(await api.post(SESSIONS, body(value)), 'parameter_invalid_integer', param);
        });
      }
      for (const text of [
        'five',
        '1.5',
        '1.0',
        '1e3',
        '+5',
        ' 5',
        '5 ',
        '0x10',
        '1_000',
        '1,000',
        '٥',
        'Infinity',
        'NaN',
        '9'.repeat(400),
      ]) {
        it(`refuses ${JSON.stringify(text.slice(0, 20))} in a form for ${param}`, async () => {
          assertInvalid(await api.form(SESSIONS, body(text)), 'parameter_invalid_integer', param);
        });
      }
    }

    for (const [given, code] of [
      ['-1', 'parameter_invalid_integer'],
      ['1.5', 'parameter_invalid_integer'],
      ['1e3', 'parameter_invalid_integer'],
      [' 1', 'parameter_invalid_integer'],
      ['one', 'parameter_invalid_integer'],
    ] as const) {
      it(`refuses ${JSON.stringify(given)} as unit_amount_decimal`, async () => {
        const body = {
          line_items: [{ price_data: { unit_amount_decimal: given, product_data: { name: 'A' } } }],
        };
        for (const send of ['post', 'form'] as const) {
          assertInvalid(
            await api[send](SESSIONS, body),
            code,
            'line_items[0][price_data][unit_amount_decimal]',
          );
        }
      });
    }

    it('as unit_amount_decimal means the same as unit_amount', async () => {
      stopClock();
      const decimal = {
        line_items: [{ price_data: { unit_amount_decimal: '450', product_data: { name: 'Coffee' } } }],
      };
      const expected = withoutIds(await api.post(SESSIONS, { ...minimal, expand: ['line_items'] }));
      for (const send of ['post', 'form'] as const) {
        assert.equal(withoutIds(await api[send](SESSIONS, { ...decimal, expand: ['line_items'] })), expected);
      }
    });

    it('is refused in unit_amount_decimal when JSON sends it as a number', async () => {
      const body = {
        line_items: [{ price_data: { unit_amount_decimal: 450, product_data: { name: 'A' } } }],
      };
      const param = 'line_items[0][price_data][unit_amount_decimal]';
      assertInvalid(await api.post(SESSIONS, body), 'parameter_invalid', param);
    });

    it('is refused when both amounts are sent, also equal ones and zero', async () => {
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

  describe('a form', () => {
    const item = (name: string, index = '[0]'): string =>
      `line_items${index}[price_data][unit_amount]=450&line_items${index}[price_data][product_data][name]=${name}`;

    it('may write an array as a[0]=, a[]= and, for one value, a=', async () => {
      for (const expand of ['expand[0]=line_items', 'expand[]=line_items', 'expand=line_items']) {
        const { body } = await api.form(SESSIONS, `${item('A')}&${expand}`).expect(200);
        assert.equal(body.line_items.data.length, 1);
      }
    });

    it('has its items sorted by index, whatever their order and gaps', async () => {
      const text = [item('C', '[200]'), item('B', '[12]'), item('A', '[2]'), 'expand[]=line_items'].join('&');
      const { body } = await api.form(SESSIONS, text).expect(200);
      const names = body.line_items.data.map(({ description }: { description: string }) => description);
      assert.deepEqual(names, ['A', 'B', 'C']);
    });

    it('is told of an item by the index that it sent', async () => {
      const res = await api.form(SESSIONS, `${item('A', '[3]')}&line_items[7][quantity]=1`);
      assertInvalid(res, 'parameter_missing', 'line_items[7][price_data]');
      const without = await api.form(SESSIONS, 'line_items[5][price_data][product_data][name]=A');
      assertInvalid(without, 'parameter_missing', 'line_items[5][price_data][unit_amount]');
    });

    it('may percent-encode its brackets', async () => {
      const encoded = item('A').replaceAll('[', '%5B').replaceAll(']', '%5D');
      await api.form(SESSIONS, encoded).expect(200);
    });

    it('reads + and %20 as spaces, and %2B as a plus', async () => {
      const { body } = await api.form(SESSIONS, `${item('A')}&client_reference_id=a+b%20c%2Bd`).expect(200);
      assert.equal(body.client_reference_id, 'a b c+d');
    });

    const refused: [why: string, text: string, code: string, param: string][] = [
      ['a parameter twice', 'mode=payment&mode=payment', 'parameter_invalid', 'mode'],
      ['a metadata key twice', 'metadata[a]=1&metadata[a]=2', 'parameter_invalid', 'metadata[a]'],
      ['a value and brackets', 'metadata=1&metadata[a]=2', 'parameter_invalid', 'metadata'],
      ['brackets and a value', 'metadata[a]=2&metadata=1', 'parameter_invalid', 'metadata'],
      ['brackets on a scalar', 'client_reference_id[a]=1', 'parameter_invalid', 'client_reference_id'],
      ['empty brackets on a scalar', 'client_reference_id[]=1', 'parameter_invalid', 'client_reference_id'],
      ['empty brackets on metadata', 'metadata[]=1', 'parameter_invalid', 'metadata'],
      ['an index that is no number', 'line_items[a][quantity]=1', 'parameter_invalid', 'line_items'],
      ['a negative index', 'line_items[-1][quantity]=1', 'parameter_invalid', 'line_items'],
      ['an item without an index', 'line_items[quantity]=1', 'parameter_invalid', 'line_items'],
      ['brackets that do not pair up', 'metadata[a=1', 'parameter_unknown', 'metadata[a'],
      ['a nest 1000 deep', `metadata${'[a]'.repeat(1000)}=1`, 'parameter_invalid', 'metadata[a]'],
      ['a name of its own', 'foo[bar][0]=1', 'parameter_unknown', 'foo'],
    ];
    for (const [why, text, code, param] of refused) {
      it(`is refused for ${why}`, async () => {
        assertInvalid(await api.form(SESSIONS, `${item('A')}&${text}`), code, param);
      });
    }

    it('is refused for a question mark before its first name', async () => {
      assertInvalid(await api.form(SESSIONS, `?mode=payment&${item('A')}`), 'parameter_unknown', '?mode');
    });

    it('is refused for percent-encoding that is no UTF-8, half of a surrogate pair included', async () => {
      for (const bytes of ['%FF', '%C3', '%ED%A0%80', '%ED%B0%80', '%C0%80']) {
        const { status, body } = await api.form(SESSIONS, `${item('A')}&client_reference_id=${bytes}`);
        assert.equal(status, 400, bytes);
        assert.ok(['malformed_body', 'parameter_invalid_string'].includes(body.error.code));
      }
    });
  });

  describe('retrieved', () => {
    for (const expand of [
      'expand[]=line_items',
      'expand[0]=line_items',
      'expand%5B%5D=line_items',
      'expand=line_items',
    ]) {
      it(`holds its line items with ?${expand}`, async () => {
        const { id } = await createOpen();
        const { body } = await api.get(`${SESSIONS}/${id}?${expand}`).expect(200);
        assert.equal(body.line_items.data[0].description, 'Coffee');
      });
    }

    it('leaves its line items out otherwise', async () => {
      const { id } = await createOpen();
      for (const query of ['', '?', '?expand=']) {
        assert.ok(!('line_items' in (await api.get(`${SESSIONS}/${id}${query}`).expect(200)).body));
      }
    });

    it('says nothing of the payment that holds it while it is processing, and keeps its url', async () => {
      const session = await buildSession(app.db, shop.accountId, {
        status: 'processing',
        paymentId: 'pay_1',
      });
      const { body } = await api.get(`${SESSIONS}/${session.id}`).expect(200);
      assert.deepEqual(
        [body.status, body.payment_status, body.payment, body.url],
        ['processing', 'unpaid', null, `https://pay.example/c/${session.id}`],
      );
    });

    it('has its payment and no url when it is paid', async () => {
      const { session, payment } = await buildPaidSession(app.db, shop.accountId);
      const { body } = await api.get(`${SESSIONS}/${session.id}`).expect(200);
      assert.deepEqual([body.status, body.payment_status, body.url], ['complete', 'paid', null]);
      assert.equal(body.payment.id, payment.id);
      assert.equal(body.payment.status, 'succeeded');
      assert.ok(!('checkout_session' in body.payment));
    });

    it('is refused with a parameter that it does not know', async () => {
      const { id } = await createOpen();
      assertInvalid(await api.get(`${SESSIONS}/${id}?limit=1`), 'parameter_unknown', 'limit');
      assertInvalid(
        await api.get(`${SESSIONS}/${id}?expand[]=payment`),
        'parameter_invalid_enum',
        'expand[0]',
      );
    });

    it('answers HEAD with the headers of GET and no body', async () => {
      const { id } = await createOpen();
      const get = await api.get(`${SESSIONS}/${id}`).expect(200);
      const head = await api.send('head', `${SESSIONS}/${id}`).expect(200);
      assert.equal(head.get('Content-Length'), get.get('Content-Length'));
      assert.ok(!head.text);
    });
  });

  describe('expired by its merchant', () => {
    async function eventsOf(id: string): Promise<Event[]> {
      return await Event.query(app.db).where('checkoutSessionId', id);
    }

    it('is expired, has no url, and its event holds exactly that', async () => {
      const created = await createOpen();
      const { body } = await api.post(`${SESSIONS}/${created.id}/expire`).expect(200);
      assert.deepEqual(body, { ...created, status: 'expired', url: null });
      assert.deepEqual((await api.get(`${SESSIONS}/${created.id}`)).body, body);
      const events = await eventsOf(created.id);
      assert.deepEqual(
        events.map(({ type, livemode, accountId }) => ({ type, livemode, accountId })),
        [{ type: 'checkout.session.expired', livemode: false, accountId: shop.accountId }],
      );
      assert.deepEqual(events[0]?.object, body);
    });

    it('takes an empty form, {} and expand, and nothing else', async () => {
      const one = await createOpen();
      await api.form(`${SESSIONS}/${one.id}/expire`, '').expect(200);
      const two = await createOpen();
      await api.post(`${SESSIONS}/${two.id}/expire`, {}).expect(200);
      for (const expand of ['expand[]=line_items', 'expand[0]=line_items', 'expand=line_items']) {
        const { id } = await createOpen();
        const { body } = await api.form(`${SESSIONS}/${id}/expire`, expand).expect(200);
        assert.equal(body.line_items.data.length, 1);
        assert.ok(!('line_items' in ((await eventsOf(id))[0]?.object ?? {})));
      }
      const { id } = await createOpen();
      assertInvalid(
        await api.post(`${SESSIONS}/${id}/expire`, { reason: 'x' }),
        'parameter_unknown',
        'reason',
      );
      assertInvalid(
        await api.post(`${SESSIONS}/${id}/expire?expand[]=line_items`),
        'parameter_unknown',
        'expand',
      );
      assert.equal((await api.get(`${SESSIONS}/${id}`)).body.status, 'open');
    });

    for (const status of ['processing', 'complete', 'expired'] as const) {
      it(`is refused when it is ${status}, and stays as it was`, async () => {
        const { id } = await buildSession(app.db, shop.accountId, { status });
        assertInvalid(await api.post(`${SESSIONS}/${id}/expire`), 'checkout_session_not_open', 'id');
        assert.equal((await api.get(`${SESSIONS}/${id}`)).body.status, status);
        assert.deepEqual(await eventsOf(id), []);
      });
    }

    it('twice at once is expired once, with one event', async () => {
      const { id } = await createOpen();
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => api.post(`${SESSIONS}/${id}/expire`)),
      );
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      for (const res of answers) {
        if (res.status !== 200) assertInvalid(res, 'checkout_session_not_open', 'id');
      }
      assert.equal((await eventsOf(id)).length, 1);
    });

    it('is replayed to a retry with the same Idempotency-Key', async () => {
      const { id } = await createOpen();
      const send = () => api.post(`${SESSIONS}/${id}/expire`).set('Idempotency-Key', `expire-${id}`);
      const first = await send().expect(200);
      const again = await send().expect(200);
      assert.equal(again.text, first.text);
      assert.equal((await eventsOf(id)).length, 1);
    });
  });
});

function withProduct(productData: object): object {
  return { line_items: [{ price_data: { unit_amount: 1, product_data: productData } }] };
}
