import assert from 'node:assert/strict';
import { buildEndpoints, HOOK_URL } from '../../lab/world/shop/factories.js';
import { WebhookEndpoint } from '../../shared/webhooks/model.js';
import { assertBothInvalid, withoutIds } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { ENDPOINTS } from '../support/orders.js';
import { idsOf } from '../support/pages.js';
import { buildShop } from '../support/shop.js';

describe('webhook endpoints', () => {
  const app = forAllTests(openTestApp);

  const withoutSecret = (text: string): string => text.replace(/,"secret":"whsec_[^"]+"/, '');

  describe('created', () => {
    it('are enabled for all events by default, and show their secret', async () => {
      const shop = await buildShop(app);
      const { body } = await shop.test.post(ENDPOINTS, { url: HOOK_URL }).expect(200);
      const { id, created, secret, ...rest } = body;
      assert.match(id, /^we_[A-Za-z0-9]{20,}$/);
      assert.ok(Number.isSafeInteger(created));
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
      assert.equal(Buffer.from(secret.slice('whsec_'.length), 'base64').length, 32);
      assert.deepEqual(rest, {
        object: 'webhook_endpoint',
        url: HOOK_URL,
        enabled_events: ['*'],
        status: 'enabled',
        livemode: false,
        description: null,
      });
    });

    it('return everything that was sent, from JSON and from a form', async () => {
      const shop = await buildShop(app);
      const body = {
        url: `${HOOK_URL}?a=b&c=%20d#e`,
        enabled_events: ['checkout.session.expired', 'checkout.session.completed'],
        description: 'Books & “stock”',
      };
      const json = await shop.live.post(ENDPOINTS, body).expect(200);
      const { url, enabled_events, description, livemode } = json.body;
      assert.deepEqual({ url, enabled_events, description }, body);
      assert.equal(livemode, true);
      const form = await shop.live.form(ENDPOINTS, body).expect(200);
      const comparable = (res: typeof json) => withoutSecret(withoutIds(res)).replace(/"created":\d+/, '');
      assert.equal(comparable(form), comparable(json));
      assert.notEqual(form.body.secret, json.body.secret);
    });

    for (const empty of [null, '', []]) {
      it(`treat ${JSON.stringify(empty)} as the default of optional fields`, async () => {
        const shop = await buildShop(app);
        const description = Array.isArray(empty) ? null : empty;
        const body = { url: HOOK_URL, enabled_events: empty, description };
        for (const send of ['post', 'form'] as const) {
          const { enabled_events, description: shown } = (await shop.test[send](ENDPOINTS, body).expect(200))
            .body;
          assert.deepEqual([enabled_events, shown], [['*'], null]);
        }
      });
    }

    it('list each event once', async () => {
      const shop = await buildShop(app);
      const enabledEvents = ['*', 'checkout.session.expired', '*', 'checkout.session.expired'];
      const { body } = await shop.test
        .post(ENDPOINTS, { url: HOOK_URL, enabled_events: enabledEvents })
        .expect(200);
      assert.deepEqual(body.enabled_events, ['*', 'checkout.session.expired']);
    });

    it('store their secret encrypted, and never show it again', async () => {
      const shop = await buildShop(app);
      const { body } = await shop.test.post(ENDPOINTS, { url: HOOK_URL }).expect(200);
      const row = await WebhookEndpoint.query(app.db).findById(body.id).throwIfNotFound();
      assert.ok(!JSON.stringify(row).includes(body.secret.slice('whsec_'.length)));
      assert.equal(app.secretBox.open(row.sealedSecret), body.secret);
      const { secret, ...shown } = body;
      assert.deepEqual((await shop.test.get(`${ENDPOINTS}/${body.id}`).expect(200)).body, shown);
      assert.deepEqual((await shop.test.get(ENDPOINTS).expect(200)).body.data, [shown]);
      const updated = await shop.test.post(`${ENDPOINTS}/${body.id}`, { description: 'x' }).expect(200);
      assert.ok(!updated.text.includes(secret) && !('secret' in updated.body));
    });

    const refused: [code: string, param: string, body: object][] = [
      ['parameter_missing', 'url', {}],
      ['parameter_missing', 'url', { description: 'x' }],
      ['parameter_invalid_empty', 'url', { url: '' }],
      ['parameter_invalid_empty', 'url', { url: null }],
      [
        'parameter_invalid_enum',
        'enabled_events[0]',
        { url: HOOK_URL, enabled_events: ['checkout.session.paid'] },
      ],
      [
        'parameter_invalid_enum',
        'enabled_events[1]',
        { url: HOOK_URL, enabled_events: ['*', 'CHECKOUT.SESSION.EXPIRED'] },
      ],
      ['parameter_invalid_empty', 'enabled_events[0]', { url: HOOK_URL, enabled_events: [''] }],
      ['parameter_invalid_string', 'description', { url: HOOK_URL, description: 'a\0' }],
      ['parameter_invalid_string', 'url', { url: `${HOOK_URL}\0` }],
      ['parameter_unknown', 'disabled', { url: HOOK_URL, disabled: 'true' }],
      ['parameter_unknown', 'metadata', { url: HOOK_URL, metadata: { a: 'b' } }],
      ['parameter_unknown', 'secret', { url: HOOK_URL, secret: 'whsec_x' }],
    ];
    for (const [code, param, body] of refused) {
      it(`refuse ${JSON.stringify(body)}`, async () => {
        const shop = await buildShop(app);
        await assertBothInvalid(shop.test, ENDPOINTS, body, code, param);
        assert.equal((await shop.test.get(ENDPOINTS)).body.data.length, 0);
      });
    }
  });

  describe('listed', () => {
    it('are complete for this mode, newest first, without limit', async () => {
      const shop = await buildShop(app);
      const test = await buildEndpoints(app.db, shop.accountId, 25);
      const live = await buildEndpoints(app.db, shop.accountId, 2, { livemode: true });
      const { body } = await shop.test.get(ENDPOINTS).expect(200);
      assert.deepEqual(idsOf(body), test.reverse());
      assert.deepEqual([body.url, body.has_more], [ENDPOINTS, false]);
      assert.deepEqual(idsOf((await shop.live.get(ENDPOINTS)).body), live.reverse());
      const rest = await shop.test.get(`${ENDPOINTS}?starting_after=${test[2]}`).expect(200);
      assert.deepEqual([idsOf(rest.body), rest.body.has_more], [test.slice(3), false]);
    });

    it('can be paged from a deleted endpoint, in both directions', async () => {
      const shop = await buildShop(app);
      const ids = (await buildEndpoints(app.db, shop.accountId, 5)).reverse();
      await shop.test.delete(`${ENDPOINTS}/${ids[2]}`).expect(200);
      const after = await shop.test.get(`${ENDPOINTS}?starting_after=${ids[2]}`).expect(200);
      assert.deepEqual(idsOf(after.body), ids.slice(3));
      const before = await shop.test.get(`${ENDPOINTS}?ending_before=${ids[2]}`).expect(200);
      assert.deepEqual(idsOf(before.body), ids.slice(0, 2));
      await shop.test.delete(`${ENDPOINTS}/${ids[4]}`).expect(200);
      const end = await shop.test.get(`${ENDPOINTS}?starting_after=${ids[4]}`).expect(200);
      assert.deepEqual([end.body.data, end.body.has_more], [[], false]);
    });
  });
});
