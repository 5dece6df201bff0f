import assert from 'node:assert/strict';
import { buildEndpoints, HOOK_URL } from '../../lab/world/shop/factories.js';
import { WebhookEndpoint } from '../../shared/webhooks/model.js';
import { assertBothInvalid, assertInvalid, assertMissing } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { ENDPOINTS } from '../support/orders.js';
import { buildShop, type Shop } from '../support/shop.js';

const HTTP_URL = 'http://1.1.1.1/hooks';

describe('webhook endpoints', () => {
  const app = forAllTests(openTestApp);

  async function rowOf(id: string): Promise<WebhookEndpoint> {
    return await WebhookEndpoint.query(app.db).findById(id).throwIfNotFound();
  }

  describe('changed', () => {
    async function newEndpoint(): Promise<{
      shop: Shop;
      path: string;
      before: Record<string, unknown>;
    }> {
      const shop = await buildShop(app);
      const created = await shop.test.post(ENDPOINTS, {
        url: HOOK_URL,
        enabled_events: ['checkout.session.expired'],
        description: 'Books',
      });
      const { secret, ...before } = created.body;
      assert.ok(secret);
      return { shop, path: `${ENDPOINTS}/${before.id}`, before };
    }

    for (const [what, changes] of Object.entries({
      url: { url: 'https://8.8.8.8/' },
      enabled_events: { enabled_events: ['*'] },
      description: { description: 'Stock' },
      everything: { url: HTTP_URL, enabled_events: ['checkout.session.completed', '*'], description: 'All' },
    })) {
      it(`accept a new value for ${what}, and keep the rest`, async () => {
        const { shop, path, before } = await newEndpoint();
        for (const send of ['post', 'form'] as const) {
          const { body } = await shop.test[send](path, changes).expect(200);
          assert.deepEqual(body, { ...before, ...changes });
          assert.deepEqual((await shop.test.get(path)).body, body);
        }
      });
    }

    it('stay unchanged without parameters', async () => {
      const { shop, path, before } = await newEndpoint();
      for (const body of [{}, { disabled: null }, { disabled: '' }]) {
        assert.deepEqual((await shop.test.post(path, body).expect(200)).body, before);
        assert.deepEqual((await shop.test.form(path, body).expect(200)).body, before);
      }
    });

    for (const empty of [null, '']) {
      it(`have description and events cleared by ${JSON.stringify(empty)}`, async () => {
        const { shop, path, before } = await newEndpoint();
        for (const send of ['post', 'form'] as const) {
          const description = await shop.test[send](path, { description: empty }).expect(200);
          assert.deepEqual(description.body, { ...before, description: null });
          const events = await shop.test[send](path, { enabled_events: empty }).expect(200);
          assert.deepEqual(events.body, { ...before, description: null, enabled_events: ['*'] });
          await shop.test.post(path, { description: 'Books', enabled_events: ['checkout.session.expired'] });
        }
      });

      it(`refuse a url of ${JSON.stringify(empty)}`, async () => {
        const { shop, path, before } = await newEndpoint();
        for (const send of ['post', 'form'] as const) {
          const res = await shop.test[send](path, { url: empty, description: 'x' });
          assertInvalid(res, 'parameter_invalid_empty', 'url');
        }
        assert.deepEqual((await shop.test.get(path)).body, before);
      });
    }

    it('can be disabled and enabled, in JSON and in forms', async () => {
      const { shop, path, before } = await newEndpoint();
      for (const send of ['post', 'form'] as const) {
        for (const [disabled, status] of [
          [true, 'disabled'],
          [true, 'disabled'],
          [false, 'enabled'],
          [false, 'enabled'],
        ] as const) {
          const { body } = await shop.test[send](path, { disabled }).expect(200);
          assert.deepEqual(body, { ...before, status });
          assert.deepEqual((await shop.test.get(path)).body, body);
        }
      }
    });

    it('stay disabled when another field changes', async () => {
      const { shop, path } = await newEndpoint();
      await shop.test.post(path, { disabled: true }).expect(200);
      assert.equal((await shop.test.post(path, { description: 'x' }).expect(200)).body.status, 'disabled');
    });

    it('keep their secret', async () => {
      const { shop, path, before } = await newEndpoint();
      const { sealedSecret } = await rowOf(String(before.id));
      await shop.test.post(path, { url: HTTP_URL, disabled: true }).expect(200);
      assert.equal((await rowOf(String(before.id))).sealedSecret, sealedSecret);
    });

    const refused: [code: string, param: string, body: object][] = [
      ['parameter_invalid_enum', 'enabled_events[0]', { enabled_events: ['x'] }],
      ['parameter_invalid_string', 'url', { url: 'https://1.1.1.1/'.padEnd(2049, 'u') }],
      ['parameter_invalid_string', 'description', { description: '\0' }],
      ['parameter_invalid', 'disabled', { disabled: 'yes' }],
      ['parameter_unknown', 'status', { status: 'disabled' }],
      ['parameter_unknown', 'secret', { secret: 'whsec_x' }],
      ['parameter_unknown', 'livemode', { livemode: 'true' }],
    ];
    for (const [code, param, body] of refused) {
      it(`refuse ${JSON.stringify(body).slice(0, 60)}`, async () => {
        const { shop, path, before } = await newEndpoint();
        await assertBothInvalid(shop.test, path, body, code, param);
        assert.deepEqual((await shop.test.get(path)).body, before);
      });
    }

    it('are replayed to a retry with the same Idempotency-Key, in either encoding', async () => {
      const { shop, path } = await newEndpoint();
      const body = { description: 'Stock', disabled: true };
      const first = await shop.test.post(path, body).set('Idempotency-Key', 'change').expect(200);
      await shop.test.post(path, { description: 'Later' }).expect(200);
      const again = await shop.test.form(path, body).set('Idempotency-Key', 'change').expect(200);
      assert.equal(again.text, first.text);
      assert.equal((await shop.test.get(path)).body.description, 'Later');
    });
  });

  describe('deleted', () => {
    it('are no longer listed, retrieved, changed or deleted', async () => {
      const shop = await buildShop(app);
      const { id } = (await shop.test.post(ENDPOINTS, { url: HOOK_URL }).expect(200)).body;
      const path = `${ENDPOINTS}/${id}`;
      const { body } = await shop.test.delete(path).expect(200);
      assert.deepEqual(body, { id, object: 'webhook_endpoint', deleted: true });
      assertMissing(await shop.test.get(path));
      assertMissing(await shop.test.post(path, { description: 'x' }));
      assertMissing(await shop.test.delete(path));
      assert.deepEqual((await shop.test.get(ENDPOINTS)).body.data, []);
    });

    it('are deleted once by concurrent requests', async () => {
      const shop = await buildShop(app);
      const [id] = await buildEndpoints(app.db, shop.accountId, 1);
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => shop.test.delete(`${ENDPOINTS}/${id}`)),
      );
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      for (const res of answers) if (res.status !== 200) assertMissing(res);
    });

    it('ignore a body, and refuse a query', async () => {
      const shop = await buildShop(app);
      const [one, two] = await buildEndpoints(app.db, shop.accountId, 2);
      await shop.test.delete(`${ENDPOINTS}/${one}`).type('json').send('{"not json').expect(200);
      assertInvalid(await shop.test.delete(`${ENDPOINTS}/${two}?force=true`), 'parameter_unknown', 'force');
      await shop.test.get(`${ENDPOINTS}/${two}`).expect(200);
    });
  });
});
