import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { buildMerchant, buildPaidSession, buildSession, EVM_WALLET } from '../../lab/world/shop/factories.js';
import { assertInvalid, client, withoutIds } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { coffee, createOpen, minimal, SESSIONS } from '../support/orders.js';
import { TEXT_NAMES, TEXTS_LEFT_OUT, TEXTS_SENT } from '../support/session-fields.js';
import { stopClock } from '../support/stopped-clock.js';

/** Every field of the API, none with its default value. */
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
  ...TEXTS_SENT,
  metadata: { 'order id': '7', count: '007', flag: 'true', 'ключ/~1': 'знач=&+;' },
  payment_method_types: ['crypto'],
  expand: ['line_items'],
};

describe('checkout sessions', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildMerchant(app.db));
  const api = forAllTests(() => client(app, shop.testKey));
  afterEach(() => mock.restoreAll());

  describe('created', () => {
    it('is open and unpaid, with all defaults', async () => {
      const at = stopClock();
      const { body } = await api.post(SESSIONS, minimal).expect(200);
      const { id, created, ...rest } = body;
      assert.match(id, /^cs_test_[A-Za-z0-9]{20,}$/);
      assert.ok(created >= Math.floor(at / 1000));
      assert.deepEqual(rest, {
        object: 'checkout.session',
        amount_subtotal: 450,
        amount_total: 450,
        ...TEXTS_LEFT_OUT,
        currency: 'usd',
        expires_at: Math.floor(at / 1000) + 24 * 3600,
        livemode: false,
        metadata: {},
        mode: 'payment',
        payment_method_types: ['crypto'],
        payment_status: 'unpaid',
        status: 'open',
        url: `https://pay.example/c/${id}`,
        payment: null,
      });
    });

    it('returns everything that was sent', async () => {
      const { body } = await api.post(SESSIONS, everything).expect(200);
      assert.equal(body.amount_total, 3 * 1999 + 25);
      assert.equal(body.amount_subtotal, body.amount_total);
      assert.equal(body.success_url, `https://shop.example/thanks?order=7&cs=${body.id}#top`);
      assert.deepEqual(body.metadata, everything.metadata);
      for (const name of TEXT_NAMES)
        if (name !== 'success_url') assert.equal(body[name], TEXTS_SENT[name], name);
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

    it('is byte for byte the same from JSON and from a form', async () => {
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
      it(`replays an Idempotency-Key over ${name}, byte for byte`, async () => {
        const key = `over-both-${first}`;
        const original = await api[first](SESSIONS, everything).set('Idempotency-Key', key).expect(200);
        const again = await api[second](SESSIONS, everything).set('Idempotency-Key', key).expect(200);
        assert.equal(again.text, original.text);
        assert.equal(again.get('Idempotent-Replayed'), 'true');
        assert.equal(original.get('Idempotent-Replayed'), undefined);
      });
    }

    it('is live with a live key', async () => {
      const { body } = await client(app, shop.liveKey).post(SESSIONS, minimal).expect(200);
      assert.match(body.id, /^cs_live_/);
      assert.equal(body.livemode, true);
    });

    it('gets ids that sort by creation and have only letters and digits', async () => {
      const ids: string[] = [];
      for (let i = 0; i < 5; i++) ids.push((await createOpen(api)).id);
      assert.deepEqual([...ids].sort(), ids);
      for (const id of ids) assert.match(id, /^cs_test_[A-Za-z0-9]+$/);
    });

    it('ignores the version headers of other clients', async () => {
      for (const header of ['Stripe-Version', 'Service-Version']) {
        await api.post(SESSIONS, minimal).set(header, '2019-01-01').expect(200);
      }
    });

    it('accepts currency in any case', async () => {
      const body = { line_items: [{ price_data: { ...coffee.price_data, currency: 'USD' } }] };
      assert.equal((await createOpen(api, body)).currency, 'usd');
    });

    it('keeps the order of 100 line items', async () => {
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

    it('refuses an account without wallets, and accepts one with either wallet', async () => {
      const wallets = { evmWallet: null, solanaWallet: null };
      const none = await buildMerchant(app.db, wallets);
      assertInvalid(await client(app, none.testKey).post(SESSIONS, minimal), 'payout_wallet_missing');
      const evm = await buildMerchant(app.db, { ...wallets, evmWallet: EVM_WALLET });
      await client(app, evm.testKey).post(SESSIONS, minimal).expect(200);
    });
  });

  describe('retrieved', () => {
    it('omits its line items otherwise', async () => {
      const { id } = await createOpen(api);
      for (const query of ['', '?', '?expand=']) {
        assert.ok(!('line_items' in (await api.get(`${SESSIONS}/${id}${query}`).expect(200)).body));
      }
    });

    it('hides its payment and keeps its url while processing', async () => {
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

    it('refuses unknown parameters', async () => {
      const { id } = await createOpen(api);
      assertInvalid(await api.get(`${SESSIONS}/${id}?limit=1`), 'parameter_unknown', 'limit');
      assertInvalid(
        await api.get(`${SESSIONS}/${id}?expand[]=payment`),
        'parameter_invalid_enum',
        'expand[0]',
      );
    });
  });
});
