import assert from 'node:assert/strict';
import Stripe from 'stripe';
import { buildMerchant, buildPaidSession } from '../../../lab/world/shop/factories.js';
import { nowMs } from '../../../shared/process/clock.js';
import { openTestApp } from '../../support/app.js';
import { forAllTests } from '../../support/hooks.js';
import { assertThrows, coffee, sdk } from '../../support/stripe-sdk.js';

const ENDPOINT_URL = 'https://shop.example/hooks';
const LONGEST_LINE_ITEMS = 100;

describe('the stock Stripe SDK', () => {
  const app = forAllTests(() => openTestApp({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' }));
  const shop = forAllTests(() => buildMerchant(app.db));
  let stripe: Stripe;
  before(async () => {
    stripe = sdk(shop.testKey, app.port);
  });

  describe('creates a session', () => {
    it('with nested parameters, metadata, a Date and expand, and retrieves the same', async () => {
      const expiresAt = new Date(Math.floor(nowMs() / 1000) * 1000 + 3_600_000);
      const created = await stripe.checkout.sessions.create({
        mode: 'payment',
        line_items: [
          {
            price_data: {
              currency: 'usd',
              unit_amount: 1999,
              product_data: {
                name: 'Träume & “Schäume” = 100% [a] + 🥐',
                description: 'x=1&y[0]=2',
                images: ['https://img.example/a.png?x=1&y=[2]', 'https://img.example/b.png'],
              },
            },
            quantity: 3,
          },
          {
            price_data: {
              currency: 'usd',
              unit_amount_decimal: Stripe.Decimal.from('25'),
              product_data: { name: 'Tip' },
            },
          },
        ],
        success_url: 'https://shop.example/thanks?cs={CHECKOUT_SESSION_ID}',
        cancel_url: 'https://shop.example/cart',
        client_reference_id: 'order-7',
        customer_email: 'buyer+7@mail.example',
        metadata: { order: '7', count: 7, 'a b': 'c&d=e' },
        expand: ['line_items'],
        // These parameters are missing in this version's types. The SDK sends a Date as Unix seconds.
        ...({ payment_method_types: ['crypto'], expires_at: expiresAt } as object),
      });
      assert.equal(created.amount_total, 3 * 1999 + 25);
      assert.equal(created.status, 'open');
      assert.equal(created.expires_at, expiresAt.getTime() / 1000);
      assert.deepEqual(created.metadata, { order: '7', count: '7', 'a b': 'c&d=e' });
      assert.equal(created.success_url, `https://shop.example/thanks?cs=${created.id}`);
      assert.equal(created.url, `https://pay.example/c/${created.id}`);
      const [first, second] = created.line_items?.data ?? [];
      assert.equal(first?.description, 'Träume & “Schäume” = 100% [a] + 🥐');
      assert.equal(first?.quantity, 3);
      assert.equal(second?.price?.unit_amount, 25);
      const retrieved = await stripe.checkout.sessions.retrieve(created.id, { expand: ['line_items'] });
      assert.deepEqual(retrieved, created);
      const plain = await stripe.checkout.sessions.retrieve(created.id);
      assert.equal(plain.line_items, undefined);
    });

    it('with nulls, which count as absent', async () => {
      const nothing: object = {
        client_reference_id: null,
        customer_email: null,
        cancel_url: null,
        success_url: null,
        expires_at: null,
        metadata: null,
      };
      const session = await stripe.checkout.sessions.create({ line_items: [coffee], ...nothing });
      assert.deepEqual(
        [session.client_reference_id, session.customer_email, session.cancel_url, session.success_url],
        [null, null, null, null],
      );
      assert.deepEqual(session.metadata, {});
      assert.equal(session.expires_at, session.created + 24 * 3600);
    });

    it('with 100 items, and lists them page by page, both ways', async () => {
      const names = Array.from({ length: LONGEST_LINE_ITEMS }, (_, i) => `Item ${i}`);
      const session = await stripe.checkout.sessions.create({
        line_items: names.map((name) => ({
          price_data: {
            currency: 'usd',
            unit_amount: 1,
            product_data: { name, description: 'One of many', images: ['https://img.example/a.png'] },
          },
          quantity: 2,
        })),
      });
      assert.equal(session.amount_total, 2 * LONGEST_LINE_ITEMS);
      const { sessions } = stripe.checkout;
      const described = (items: Stripe.LineItem[]): (string | null)[] => items.map((i) => i.description);
      const whole = await sessions.listLineItems(session.id);
      assert.equal(whole.has_more, false);
      assert.deepEqual(described(whole.data), names);
      const forwards = sessions.listLineItems(session.id, { limit: 7 });
      assert.deepEqual(described(await forwards.autoPagingToArray({ limit: 1000 })), names);
      const last = whole.data.at(-1)?.id ?? '';
      const backwards = sessions.listLineItems(session.id, { limit: 7, ending_before: last });
      assert.deepEqual(
        described(await backwards.autoPagingToArray({ limit: 1000 })),
        names.slice(0, -1).reverse(),
      );
    });

    it("has the API's Request-Id on the last response, a new one for each request", async () => {
      const ids = new Set<string>();
      for (let i = 0; i < 3; i++) {
        const { lastResponse } = await stripe.checkout.sessions.create({ line_items: [coffee] });
        assert.equal(lastResponse.statusCode, 200);
        assert.equal(lastResponse.requestId, lastResponse.headers['request-id']);
        assert.match(lastResponse.requestId, /^req_/);
        ids.add(lastResponse.requestId);
      }
      assert.equal(ids.size, 3);
    });

    it('with a live key in live mode, where a test key does not find it', async () => {
      const live = await sdk(shop.liveKey, app.port).checkout.sessions.create({ line_items: [coffee] });
      assert.equal(live.livemode, true);
      const error = await assertThrows(stripe.checkout.sessions.retrieve(live.id), {
        code: 'resource_missing',
        param: 'id',
        statusCode: 404,
      });
      assert.match(error.message, /live mode/);
    });
  });

  it('expires a session, and gets checkout_session_not_open the second time', async () => {
    const { id } = await stripe.checkout.sessions.create({ line_items: [coffee] });
    const expired = await stripe.checkout.sessions.expire(id, { expand: ['line_items'] });
    assert.deepEqual([expired.status, expired.url], ['expired', null]);
    assert.equal(expired.line_items?.data.length, 1);
    await assertThrows(stripe.checkout.sessions.expire(id), {
      code: 'checkout_session_not_open',
      param: 'id',
    });
  });

  describe('manages webhook endpoints', () => {
    it('from create to del', async () => {
      const created = await stripe.webhookEndpoints.create({
        url: ENDPOINT_URL,
        enabled_events: ['checkout.session.completed', 'checkout.session.expired'],
        description: 'Orders',
      });
      assert.match(created.secret ?? '', /^whsec_[A-Za-z0-9+/]{43}=$/);
      const { secret, ...rest } = created;
      assert.deepEqual(await stripe.webhookEndpoints.retrieve(created.id), rest);
      const listed = await stripe.webhookEndpoints.list();
      assert.deepEqual(listed.data[0], rest);

      const changed = await stripe.webhookEndpoints.update(created.id, {
        url: `${ENDPOINT_URL}/2`,
        enabled_events: ['*'],
        description: '',
        disabled: true,
      });
      assert.deepEqual(
        [changed.url, changed.enabled_events, changed.description, changed.status],
        [`${ENDPOINT_URL}/2`, ['*'], null, 'disabled'],
      );
      assert.equal(changed.secret, undefined);
      const enabled = await stripe.webhookEndpoints.update(created.id, { disabled: false });
      assert.equal(enabled.status, 'enabled');

      assert.deepEqual(await stripe.webhookEndpoints.del(created.id), {
        id: created.id,
        object: 'webhook_endpoint',
        deleted: true,
      });
      await assertThrows(stripe.webhookEndpoints.retrieve(created.id), {
        code: 'resource_missing',
        param: 'id',
        statusCode: 404,
      });
    });

    it('during paging: the cursor of a deleted one still works', async () => {
      const owner = await buildMerchant(app.db);
      const mine = sdk(owner.testKey, app.port);
      const ids: string[] = [];
      for (let i = 0; i < 7; i++) {
        ids.unshift((await mine.webhookEndpoints.create({ url: ENDPOINT_URL, enabled_events: ['*'] })).id);
      }
      const seen: string[] = [];
      for await (const { id } of mine.webhookEndpoints.list({ limit: 2 })) {
        seen.push(id);
        await mine.webhookEndpoints.del(id);
      }
      assert.deepEqual(seen, ids);
      assert.deepEqual((await mine.webhookEndpoints.list()).data, []);
    });
  });

  describe('reads payments with rawRequest', () => {
    it('page by page', async () => {
      const owner = await buildMerchant(app.db);
      const mine = sdk(owner.testKey, app.port);
      const paid = [];
      for (let i = 0; i < 3; i++) paid.unshift(await buildPaidSession(app.db, owner.accountId));
      const page = await mine.rawRequest('GET', '/v1/payments?limit=2');
      assert.equal(Reflect.get(page, 'object'), 'list');
      assert.equal(Reflect.get(page, 'has_more'), true);
      assert.equal(page.lastResponse.requestId?.slice(0, 4), 'req_');
      const [first, second] = Reflect.get(page, 'data');
      assert.equal(first.id, paid[0]?.payment.id);
      assert.equal(first.checkout_session, paid[0]?.session.id);
      const rest = await mine.rawRequest('GET', `/v1/payments?limit=2&starting_after=${second.id}`);
      assert.deepEqual(
        Reflect.get(rest, 'data').map((payment: { id: string }) => payment.id),
        [paid[2]?.payment.id],
      );
      assert.equal(Reflect.get(rest, 'has_more'), false);
      const session = await mine.checkout.sessions.retrieve(paid[0]?.session.id ?? '');
      assert.deepEqual([session.status, session.payment_status, session.url], ['complete', 'paid', null]);
      assert.equal(Reflect.get(session, 'payment').id, paid[0]?.payment.id);
    });

    it('and gets errors like any other request', async () => {
      await assertThrows(stripe.rawRequest('GET', '/v1/payments?limit=1000'), {
        code: 'parameter_invalid_integer',
        param: 'limit',
      });
    });
  });
});
