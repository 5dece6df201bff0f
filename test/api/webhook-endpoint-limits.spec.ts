import assert from 'node:assert/strict';
import { buildEndpoints, HOOK_URL } from '../../lab/world/shop/factories.js';
import { assertInvalid, client } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { ENDPOINTS } from '../support/orders.js';
import { buildShop } from '../support/shop.js';

const HTTP_URL = 'http://1.1.1.1/hooks';

describe('webhook endpoints', () => {
  const app = forAllTests(openTestApp);

  describe('limits', () => {
    const urlOf = (length: number): string => `${HOOK_URL}/`.padEnd(length, 'u');

    it('accept a url of 2048 characters, and refuse 2049', async () => {
      const shop = await buildShop(app);
      for (const send of ['post', 'form'] as const) {
        await shop.test[send](ENDPOINTS, { url: urlOf(2048) }).expect(200);
        const res = await shop.test[send](ENDPOINTS, { url: urlOf(2049) });
        assertInvalid(res, 'parameter_invalid_string', 'url');
      }
    });

    it('accept a description of 500 characters, and refuse 501', async () => {
      const shop = await buildShop(app);
      for (const send of ['post', 'form'] as const) {
        const description = '🥐'.repeat(500);
        const { body } = await shop.test[send](ENDPOINTS, { url: HOOK_URL, description }).expect(200);
        assert.equal(body.description, description);
        const longer = { url: HOOK_URL, description: `${description}!` };
        assertInvalid(await shop.test[send](ENDPOINTS, longer), 'parameter_invalid_string', 'description');
        const update = await shop.test[send](`${ENDPOINTS}/${body.id}`, { description: longer.description });
        assertInvalid(update, 'parameter_invalid_string', 'description');
      }
    });

    it('allow 1,000 endpoints per mode, not counting deleted ones', async () => {
      const shop = await buildShop(app);
      const [oldest] = await buildEndpoints(app.db, shop.accountId, 999);
      await shop.test.post(ENDPOINTS, { url: HOOK_URL }).expect(200);
      assertInvalid(await shop.test.post(ENDPOINTS, { url: HOOK_URL }), 'webhook_endpoint_limit');
      await shop.live.post(ENDPOINTS, { url: HOOK_URL }).expect(200);
      const other = await buildShop(app);
      await other.test.post(ENDPOINTS, { url: HOOK_URL }).expect(200);
      await shop.test.delete(`${ENDPOINTS}/${oldest}`).expect(200);
      await shop.test.post(ENDPOINTS, { url: HOOK_URL }).expect(200);
      const { body } = await shop.test.get(ENDPOINTS).expect(200);
      assert.equal(body.data.length, 1000);
      assert.equal(body.has_more, false);
    });

    it('hold for concurrent creates: at 999, one of 12 succeeds', async () => {
      const shop = await buildShop(app);
      await buildEndpoints(app.db, shop.accountId, 999);
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => shop.test.post(ENDPOINTS, { url: HOOK_URL })),
      );
      for (const res of answers) if (res.status !== 200) assertInvalid(res, 'webhook_endpoint_limit');
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      assert.equal((await shop.test.get(ENDPOINTS)).body.data.length, 1000);
    });
  });

  describe('urls', () => {
    it('are refused for what a URI may not contain with how to write it', async () => {
      const shop = await buildShop(app);
      const { body } = await shop.test.post(ENDPOINTS, { url: HOOK_URL }).expect(200);
      for (const rest of ['?shop[id]=1', '?off=100%', '/#a#b']) {
        for (const path of [ENDPOINTS, `${ENDPOINTS}/${body.id}`]) {
          const res = await shop.test.post(path, { url: `${HOOK_URL}${rest}` });
          assertInvalid(res, 'url_invalid', 'url');
          assert.match(res.body.error.message, /Percent-encode it: write \[ as %5B, .* % as %25/);
        }
      }
    });

    it('of at most 2048 characters that are longer percent-encoded are refused as too long', async () => {
      const shop = await buildShop(app);
      const res = await shop.test.post(ENDPOINTS, { url: `${HOOK_URL}/${'ü'.repeat(400)}` });
      assertInvalid(res, 'parameter_invalid_string', 'url');
      assert.match(res.body.error.message, /at most 2048 characters long .* percent-encoded/);
    });

    it('are asked for with the scheme of each mode, and the example of a receiver', async () => {
      const shop = await buildShop(app);
      for (const url of ['abc', 'ftp://example.com/hooks']) {
        const res = await shop.live.post(ENDPOINTS, { url });
        assertInvalid(res, 'url_invalid', 'url');
        assert.equal(
          res.body.error.message,
          'url must be a complete https URL (in test mode also http), such as https://example.com/webhooks.',
        );
      }
    });

    for (const url of [HTTP_URL, 'http://1.1.1.1:8080/']) {
      it(`may be ${url} in test mode, not in live mode`, async () => {
        const shop = await buildShop(app);
        await shop.test.post(ENDPOINTS, { url }).expect(200);
        assertInvalid(await shop.live.post(ENDPOINTS, { url }), 'url_invalid', 'url');
        const { body } = await shop.live.post(ENDPOINTS, { url: HOOK_URL }).expect(200);
        assertInvalid(await shop.live.post(`${ENDPOINTS}/${body.id}`, { url }), 'url_invalid', 'url');
      });
    }

    for (const url of [
      'https://1.1.1.1',
      'https://1.1.1.1:1/',
      'https://1.1.1.1:65535/a?b=c#d',
      'https://[2606:4700:4700::1111]/hooks',
      'https://hooks.invalid/',
      'https://set-up-later.hooks.invalid:8443/a',
    ]) {
      it(`may be ${url} in both modes`, async () => {
        const shop = await buildShop(app);
        for (const api of [shop.test, shop.live]) {
          assert.equal((await api.post(ENDPOINTS, { url }).expect(200)).body.url, url);
        }
      });
    }

    // The spellings of addresses are in test/unit/values/public-address.spec.ts.
    const refused = [
      ...[
        'ftp://1.1.1.1/',
        'javascript:alert(1)',
        'hooks',
        '//1.1.1.1/',
        'https:1.1.1.1',
        ' https://1.1.1.1/',
      ],
      ...['https://1.1.1.1/\n', 'https://1.1.1.1:99999/', 'https://user:pass@1.1.1.1/', 'https://@1.1.1.1/'],
      ...['https://2130706433/', 'https://[::ffff:7f00:1]/', 'https://a.localhost/', 'https://10.0.0.1/'],
      ...['https://169.254.169.254/', 'https://[fd00::1]/', 'https://0/', 'https://[2001:db8::1]/'],
    ];
    it('are refused unless they are complete and public, on create and on update, in both modes', async () => {
      const shop = await buildShop(app);
      for (const api of [shop.test, shop.live]) {
        const { id } = (await api.post(ENDPOINTS, { url: HOOK_URL }).expect(200)).body;
        for (const url of refused) {
          for (const path of [ENDPOINTS, `${ENDPOINTS}/${id}`]) {
            const res = await api.post(path, { url });
            assert.equal(res.status, 400, `${path} ${url} ${res.text}`);
            assertInvalid(res, 'url_invalid', 'url');
          }
        }
        assert.equal((await api.get(`${ENDPOINTS}/${id}`)).body.url, HOOK_URL);
      }
    });

    it('may be private when WEBHOOK_ALLOW_PRIVATE_NETWORKS is true; live mode still requires https', async () => {
      const shop = await buildShop(app);
      const open = await openTestApp({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' });
      try {
        await client(open, shop.testKey).post(ENDPOINTS, { url: 'http://127.0.0.1:4242/' }).expect(200);
        await client(open, shop.liveKey).post(ENDPOINTS, { url: 'https://127.0.0.1:4242/' }).expect(200);
        const res = await client(open, shop.liveKey).post(ENDPOINTS, { url: 'http://127.0.0.1:4242/' });
        assertInvalid(res, 'url_invalid', 'url');
      } finally {
        await open.close();
      }
    });

    // The API promises a URI, and deliveries use it.
    for (const url of [
      'https://1.1.1.1/ü?é#ß',
      'https://1.1.1.1/{id}|<a>',
      'https://1.1.1.1/%zz',
      'https://1.1.1.1/[a]',
      'https://1.1.1.1/#a#b',
      'https://bücher.invalid/',
    ]) {
      it(`are returned as URIs or refused: ${url}`, async () => {
        const shop = await buildShop(app);
        const res = await shop.test.post(ENDPOINTS, { url });
        if (res.status !== 200) assertInvalid(res, 'url_invalid', 'url');
      });
    }
  });
});
