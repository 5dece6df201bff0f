import assert from 'node:assert/strict';
import { newId } from '../../shared/ids.js';
import { IdempotencyRecord } from '../../shared/models/idempotency-record.js';
import { WebhookEndpoint } from '../../shared/models/webhook-endpoint.js';
import {
  assertInvalid,
  assertMissing,
  assertRefusal,
  type Client,
  client,
  withoutIds,
} from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { buildMerchant, type Merchant } from '../support/factories.js';

const ENDPOINTS = '/v1/webhook_endpoints';
/** Addresses, so that no test asks a name server: nothing is ever sent there. */
const URL = 'https://1.1.1.1/hooks';
const HTTP_URL = 'http://1.1.1.1/hooks';

describe('webhook endpoints', () => {
  let app: TestApp;
  before(async () => {
    app = await openTestApp();
  });
  after(() => app.close());

  async function newShop(): Promise<Merchant & { test: Client; live: Client }> {
    const merchant = await buildMerchant(app.db);
    return { ...merchant, test: client(app, merchant.testKey), live: client(app, merchant.liveKey) };
  }

  async function rowOf(id: string): Promise<WebhookEndpoint> {
    return await WebhookEndpoint.query(app.db).findById(id).throwIfNotFound();
  }

  /** Written directly, oldest first. */
  async function insertEndpoints(accountId: string, count: number, livemode = false): Promise<string[]> {
    const rows = Array.from({ length: count }, () => ({
      id: newId('we_'),
      accountId,
      livemode,
      url: URL,
      enabledEvents: ['*' as const],
      status: 'enabled' as const,
      description: null,
      sealedSecret: 'none',
      deletedAt: null,
    }));
    await WebhookEndpoint.query(app.db).insert(rows);
    return rows.map(({ id }) => id);
  }

  const withoutSecret = (text: string): string => text.replace(/,"secret":"whsec_[^"]+"/, '');

  describe('created', () => {
    it('are enabled for all events by default, and tell their secret', async () => {
      const shop = await newShop();
      const { body } = await shop.test.post(ENDPOINTS, { url: URL }).expect(200);
      const { id, created, secret, ...rest } = body;
      assert.match(id, /^we_[A-Za-z0-9]{20,}$/);
      assert.ok(Number.isSafeInteger(created));
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
      assert.equal(Buffer.from(secret.slice('whsec_'.length), 'base64').length, 32);
      assert.deepEqual(rest, {
        object: 'webhook_endpoint',
        url: URL,
        enabled_events: ['*'],
        status: 'enabled',
        livemode: false,
        description: null,
      });
    });

    it('carry everything that was sent, from JSON and from a form', async () => {
      const shop = await newShop();
      const body = {
        url: `${URL}?a=b&c=%20d#e`,
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
      it(`take ${JSON.stringify(empty)} for the default of what is optional`, async () => {
        const shop = await newShop();
        const description = Array.isArray(empty) ? null : empty;
        const body = { url: URL, enabled_events: empty, description };
        for (const send of ['post', 'form'] as const) {
          const { enabled_events, description: shown } = (await shop.test[send](ENDPOINTS, body).expect(200))
            .body;
          assert.deepEqual([enabled_events, shown], [['*'], null]);
        }
      });
    }

    it('name each event once', async () => {
      const shop = await newShop();
      const enabledEvents = ['*', 'checkout.session.expired', '*', 'checkout.session.expired'];
      const { body } = await shop.test
        .post(ENDPOINTS, { url: URL, enabled_events: enabledEvents })
        .expect(200);
      assert.deepEqual(body.enabled_events, ['*', 'checkout.session.expired']);
    });

    for (const events of ['enabled_events[]=*', 'enabled_events[0]=*', 'enabled_events=*']) {
      it(`take ${events} in a form`, async () => {
        const shop = await newShop();
        const { body } = await shop.test.form(ENDPOINTS, `url=${URL}&${events}`).expect(200);
        assert.deepEqual(body.enabled_events, ['*']);
      });
    }

    it('keep their secret encrypted, and tell it never again', async () => {
      const shop = await newShop();
      const { body } = await shop.test.post(ENDPOINTS, { url: URL }).expect(200);
      const row = await rowOf(body.id);
      assert.ok(!JSON.stringify(row).includes(body.secret.slice('whsec_'.length)));
      assert.equal(app.secretBox.open(row.sealedSecret), body.secret);
      const { secret, ...shown } = body;
      assert.deepEqual((await shop.test.get(`${ENDPOINTS}/${body.id}`).expect(200)).body, shown);
      assert.deepEqual((await shop.test.get(ENDPOINTS).expect(200)).body.data, [shown]);
      const updated = await shop.test.post(`${ENDPOINTS}/${body.id}`, { description: 'x' }).expect(200);
      assert.ok(!updated.text.includes(secret) && !('secret' in updated.body));
    });

    it('are replayed with their secret to a retry, from an answer that is kept encrypted', async () => {
      const shop = await newShop();
      const send = () => shop.test.post(ENDPOINTS, { url: URL }).set('Idempotency-Key', 'once');
      const first = await send().expect(200);
      const again = await send().expect(200);
      assert.equal(again.text, first.text);
      const kept = await IdempotencyRecord.query(app.db).where({ accountId: shop.accountId });
      assert.equal(kept.length, 1);
      assert.ok(!JSON.stringify(kept).includes(first.body.secret.slice('whsec_'.length)));
      assert.equal((await shop.test.get(ENDPOINTS)).body.data.length, 1);
    });

    const refused: [code: string, param: string, body: object][] = [
      ['parameter_missing', 'url', {}],
      ['parameter_missing', 'url', { description: 'x' }],
      ['parameter_invalid_empty', 'url', { url: '' }],
      [
        'parameter_invalid_enum',
        'enabled_events[0]',
        { url: URL, enabled_events: ['checkout.session.paid'] },
      ],
      [
        'parameter_invalid_enum',
        'enabled_events[1]',
        { url: URL, enabled_events: ['*', 'CHECKOUT.SESSION.EXPIRED'] },
      ],
      ['parameter_invalid_empty', 'enabled_events[0]', { url: URL, enabled_events: [''] }],
      ['parameter_invalid_string', 'description', { url: URL, description: 'a\0' }],
      ['parameter_invalid_string', 'url', { url: `${URL}\0` }],
      ['parameter_unknown', 'disabled', { url: URL, disabled: 'true' }],
      ['parameter_unknown', 'metadata', { url: URL, metadata: { a: 'b' } }],
      ['parameter_unknown', 'secret', { url: URL, secret: 'whsec_x' }],
    ];
    for (const [code, param, body] of refused) {
      it(`refuse ${JSON.stringify(body)}`, async () => {
        const shop = await newShop();
        assertInvalid(await shop.test.post(ENDPOINTS, body), code, param);
        assertInvalid(await shop.test.form(ENDPOINTS, body), code, param);
        assert.equal((await shop.test.get(ENDPOINTS)).body.data.length, 0);
      });
    }

    for (const [param, body] of [
      ['url', { url: 7 }],
      ['url', { url: [URL] }],
      ['description', { url: URL, description: 7 }],
      ['enabled_events', { url: URL, enabled_events: '*' }],
      ['enabled_events', { url: URL, enabled_events: { 0: '*' } }],
    ] as const) {
      it(`refuse ${JSON.stringify(body)} in JSON`, async () => {
        const shop = await newShop();
        assertInvalid(await shop.test.post(ENDPOINTS, body), 'parameter_invalid', param);
      });
    }
    it('refuse url null in JSON', async () => {
      const shop = await newShop();
      assertInvalid(await shop.test.post(ENDPOINTS, { url: null }), 'parameter_invalid_empty', 'url');
    });
  });

  describe('limits', () => {
    const urlOf = (length: number): string => `${URL}/`.padEnd(length, 'u');

    it('take a url of 2048 characters, and refuse one of 2049', async () => {
      const shop = await newShop();
      for (const send of ['post', 'form'] as const) {
        await shop.test[send](ENDPOINTS, { url: urlOf(2048) }).expect(200);
        const res = await shop.test[send](ENDPOINTS, { url: urlOf(2049) });
        assertInvalid(res, 'parameter_invalid_string', 'url');
      }
    });

    it('take a description of 500 characters, and refuse one of 501', async () => {
      const shop = await newShop();
      for (const send of ['post', 'form'] as const) {
        const description = '🥐'.repeat(500);
        const { body } = await shop.test[send](ENDPOINTS, { url: URL, description }).expect(200);
        assert.equal(body.description, description);
        const longer = { url: URL, description: `${description}!` };
        assertInvalid(await shop.test[send](ENDPOINTS, longer), 'parameter_invalid_string', 'description');
        const update = await shop.test[send](`${ENDPOINTS}/${body.id}`, { description: longer.description });
        assertInvalid(update, 'parameter_invalid_string', 'description');
      }
    });

    it('hold at 1,000 endpoints per mode, deleted ones not counted', async () => {
      const shop = await newShop();
      const [oldest] = await insertEndpoints(shop.accountId, 999);
      await shop.test.post(ENDPOINTS, { url: URL }).expect(200);
      assertInvalid(await shop.test.post(ENDPOINTS, { url: URL }), 'webhook_endpoint_limit');
      await shop.live.post(ENDPOINTS, { url: URL }).expect(200);
      const other = await newShop();
      await other.test.post(ENDPOINTS, { url: URL }).expect(200);
      await shop.test.delete(`${ENDPOINTS}/${oldest}`).expect(200);
      await shop.test.post(ENDPOINTS, { url: URL }).expect(200);
      const { body } = await shop.test.get(ENDPOINTS).expect(200);
      assert.equal(body.data.length, 1000);
      assert.equal(body.has_more, false);
    });

    it('hold when many are created at once: of 12 at 999, one', async () => {
      const shop = await newShop();
      await insertEndpoints(shop.accountId, 999);
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => shop.test.post(ENDPOINTS, { url: URL })),
      );
      for (const res of answers) if (res.status !== 200) assertInvalid(res, 'webhook_endpoint_limit');
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      assert.equal((await shop.test.get(ENDPOINTS)).body.data.length, 1000);
    });
  });

  describe('urls', () => {
    for (const url of [HTTP_URL, 'http://1.1.1.1:8080/']) {
      it(`may be ${url} in test mode, not in live mode`, async () => {
        const shop = await newShop();
        await shop.test.post(ENDPOINTS, { url }).expect(200);
        assertInvalid(await shop.live.post(ENDPOINTS, { url }), 'url_invalid', 'url');
        const { body } = await shop.live.post(ENDPOINTS, { url: URL }).expect(200);
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
        const shop = await newShop();
        for (const api of [shop.test, shop.live]) {
          assert.equal((await api.post(ENDPOINTS, { url }).expect(200)).body.url, url);
        }
      });
    }

    const refused: Record<string, string[]> = {
      'other schemes': ['ftp://1.1.1.1/', 'ws://1.1.1.1/', 'file:///etc/passwd', 'javascript:alert(1)'],
      'what is no whole URL': [
        'hooks',
        '/hooks',
        '//1.1.1.1/',
        '1.1.1.1/hooks',
        'https:1.1.1.1',
        'https://',
        'https:///hooks',
        ' https://1.1.1.1/',
        'https://1.1.1.1/\n',
        'https://1.1.1.1:99999/',
        'https://a b/',
      ],
      credentials: [
        'https://user:pass@1.1.1.1/',
        'https://user@1.1.1.1/',
        'https://:pass@1.1.1.1/',
        'https://@1.1.1.1/',
        'https://1.1.1.1@127.0.0.1/',
      ],
      'loopback in every spelling': [
        'https://127.0.0.1/',
        'https://127.1/',
        'https://2130706433/',
        'https://0x7f000001/',
        'https://0x7f.1/',
        'https://0177.0.0.1/',
        'https://127.0.0.1./',
        'https://[::1]/',
        'https://[0:0:0:0:0:0:0:1]/',
        'https://[::ffff:127.0.0.1]/',
        'https://[::ffff:7f00:1]/',
        'https://localhost/',
        'https://LOCALHOST/',
        'https://localhost./',
        'https://a.localhost/',
        'https://１２７.0.0.1/',
      ],
      'private networks': [
        'https://10.0.0.1/',
        'https://172.16.0.1/',
        'https://172.31.255.255/',
        'https://192.168.1.1/',
        'https://100.64.0.1/',
        'https://169.254.169.254/',
        'https://[fe80::1]/',
        'https://[fd00::1]/',
        'https://[64:ff9b::a00:1]/',
        'https://[2002:a00:1::]/',
      ],
      'addresses that are nobody’s': [
        'https://0.0.0.0/',
        'https://0/',
        'https://255.255.255.255/',
        'https://224.0.0.1/',
        'https://240.0.0.1/',
        'https://192.0.2.1/',
        'https://198.18.0.1/',
        'https://[::]/',
        'https://[ff02::1]/',
        'https://[2001:db8::1]/',
      ],
    };
    for (const [what, urls] of Object.entries(refused)) {
      it(`are refused with ${what}, on create and on update, in both modes`, async () => {
        const shop = await newShop();
        for (const api of [shop.test, shop.live]) {
          const { id } = (await api.post(ENDPOINTS, { url: URL }).expect(200)).body;
          for (const url of urls) {
            for (const path of [ENDPOINTS, `${ENDPOINTS}/${id}`]) {
              const res = await api.post(path, { url });
              assert.equal(res.status, 400, `${path} ${url} ${res.text}`);
              assertInvalid(res, 'url_invalid', 'url');
            }
          }
          assert.equal((await api.get(`${ENDPOINTS}/${id}`)).body.url, URL);
        }
      });
    }

    it('may be private ones when WEBHOOK_ALLOW_PRIVATE_NETWORKS is true; live mode still needs https', async () => {
      const shop = await newShop();
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

    // A URI is what the answer promises, and what a delivery calls.
    for (const url of [
      'https://1.1.1.1/ü?é#ß',
      'https://1.1.1.1/{id}|<a>',
      'https://1.1.1.1/%zz',
      'https://1.1.1.1/[a]',
      'https://1.1.1.1/#a#b',
      'https://bücher.invalid/',
    ]) {
      it(`come back as URIs, or are refused: ${url}`, async () => {
        const shop = await newShop();
        const res = await shop.test.post(ENDPOINTS, { url });
        if (res.status !== 200) assertInvalid(res, 'url_invalid', 'url');
      });
    }
  });

  describe('changed', () => {
    async function newEndpoint(): Promise<{
      shop: Merchant & { test: Client; live: Client };
      path: string;
      before: Record<string, unknown>;
    }> {
      const shop = await newShop();
      const created = await shop.test.post(ENDPOINTS, {
        url: URL,
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
      it(`take a new value for ${what}, and keep the rest`, async () => {
        const { shop, path, before } = await newEndpoint();
        for (const send of ['post', 'form'] as const) {
          const { body } = await shop.test[send](path, changes).expect(200);
          assert.deepEqual(body, { ...before, ...changes });
          assert.deepEqual((await shop.test.get(path)).body, body);
        }
      });
    }

    it('stay as they are without parameters', async () => {
      const { shop, path, before } = await newEndpoint();
      for (const body of [{}, { disabled: null }, { disabled: '' }]) {
        assert.deepEqual((await shop.test.post(path, body).expect(200)).body, before);
        assert.deepEqual((await shop.test.form(path, body).expect(200)).body, before);
      }
    });

    for (const empty of [null, '']) {
      it(`have their description and events cleared by ${JSON.stringify(empty)}`, async () => {
        const { shop, path, before } = await newEndpoint();
        for (const send of ['post', 'form'] as const) {
          const description = await shop.test[send](path, { description: empty }).expect(200);
          assert.deepEqual(description.body, { ...before, description: null });
          const events = await shop.test[send](path, { enabled_events: empty }).expect(200);
          assert.deepEqual(events.body, { ...before, description: null, enabled_events: ['*'] });
          await shop.test.post(path, { description: 'Books', enabled_events: ['checkout.session.expired'] });
        }
      });

      it(`are refused an url of ${JSON.stringify(empty)}`, async () => {
        const { shop, path, before } = await newEndpoint();
        for (const send of ['post', 'form'] as const) {
          const res = await shop.test[send](path, { url: empty, description: 'x' });
          assertInvalid(res, 'parameter_invalid_empty', 'url');
        }
        assert.deepEqual((await shop.test.get(path)).body, before);
      });
    }

    it('are disabled and enabled again, in JSON and in forms', async () => {
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

    it('stay disabled when something else is changed', async () => {
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
      ['parameter_invalid', 'disabled', { disabled: '1' }],
      ['parameter_unknown', 'status', { status: 'disabled' }],
      ['parameter_unknown', 'secret', { secret: 'whsec_x' }],
      ['parameter_unknown', 'livemode', { livemode: 'true' }],
    ];
    for (const [code, param, body] of refused) {
      it(`refuse ${JSON.stringify(body).slice(0, 60)}`, async () => {
        const { shop, path, before } = await newEndpoint();
        assertInvalid(await shop.test.post(path, body), code, param);
        assertInvalid(await shop.test.form(path, body), code, param);
        assert.deepEqual((await shop.test.get(path)).body, before);
      });
    }

    for (const disabled of ['true', 'false', 0, 1]) {
      it(`refuse disabled ${JSON.stringify(disabled)} in JSON`, async () => {
        const { shop, path } = await newEndpoint();
        assertInvalid(await shop.test.post(path, { disabled }), 'parameter_invalid', 'disabled');
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
    it('are gone: from the list, and for retrieving, changing and deleting', async () => {
      const shop = await newShop();
      const { id } = (await shop.test.post(ENDPOINTS, { url: URL }).expect(200)).body;
      const path = `${ENDPOINTS}/${id}`;
      const { body } = await shop.test.delete(path).expect(200);
      assert.deepEqual(body, { id, object: 'webhook_endpoint', deleted: true });
      assertMissing(await shop.test.get(path));
      assertMissing(await shop.test.post(path, { description: 'x' }));
      assertMissing(await shop.test.delete(path));
      assert.deepEqual((await shop.test.get(ENDPOINTS)).body.data, []);
    });

    it('are deleted once by many at once', async () => {
      const shop = await newShop();
      const [id] = await insertEndpoints(shop.accountId, 1);
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => shop.test.delete(`${ENDPOINTS}/${id}`)),
      );
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      for (const res of answers) if (res.status !== 200) assertMissing(res);
    });

    it('ignore a body, and refuse a query', async () => {
      const shop = await newShop();
      const [one, two] = await insertEndpoints(shop.accountId, 2);
      await shop.test.delete(`${ENDPOINTS}/${one}`).type('json').send('{"not json').expect(200);
      assertInvalid(await shop.test.delete(`${ENDPOINTS}/${two}?force=true`), 'parameter_unknown', 'force');
      await shop.test.get(`${ENDPOINTS}/${two}`).expect(200);
    });

    it('ignore an Idempotency-Key', async () => {
      const shop = await newShop();
      const [id] = await insertEndpoints(shop.accountId, 1);
      await shop.test.delete(`${ENDPOINTS}/${id}`).set('Idempotency-Key', 'd').expect(200);
      assertMissing(await shop.test.delete(`${ENDPOINTS}/${id}`).set('Idempotency-Key', 'd'));
      await shop.test.post(ENDPOINTS, { url: URL }).set('Idempotency-Key', 'd').expect(200);
    });
  });

  describe('listed', () => {
    const idsOf = (body: { data: { id: string }[] }): string[] => body.data.map(({ id }) => id);

    it('are all of this mode, newest first, without limit', async () => {
      const shop = await newShop();
      const test = await insertEndpoints(shop.accountId, 25);
      const live = await insertEndpoints(shop.accountId, 2, true);
      const { body } = await shop.test.get(ENDPOINTS).expect(200);
      assert.deepEqual(idsOf(body), test.reverse());
      assert.deepEqual([body.url, body.has_more], [ENDPOINTS, false]);
      assert.deepEqual(idsOf((await shop.live.get(ENDPOINTS)).body), live.reverse());
    });

    it('take limit and cursors; without limit the rest comes whole', async () => {
      const shop = await newShop();
      const ids = (await insertEndpoints(shop.accountId, 14)).reverse();
      const page = async (query: string) => (await shop.test.get(`${ENDPOINTS}?${query}`).expect(200)).body;
      const first = await page('limit=3');
      assert.deepEqual([idsOf(first), first.has_more], [ids.slice(0, 3), true]);
      const rest = await page(`starting_after=${ids[2]}`);
      assert.deepEqual([idsOf(rest), rest.has_more], [ids.slice(3), false]);
      const nearest = await page(`limit=2&ending_before=${ids[5]}`);
      assert.deepEqual([idsOf(nearest), nearest.has_more], [ids.slice(3, 5), true]);
      const top = await page(`ending_before=${ids[2]}`);
      assert.deepEqual([idsOf(top), top.has_more], [ids.slice(0, 2), false]);
    });

    it('may be paged from an endpoint that was deleted meanwhile, in both directions', async () => {
      const shop = await newShop();
      const ids = (await insertEndpoints(shop.accountId, 5)).reverse();
      await shop.test.delete(`${ENDPOINTS}/${ids[2]}`).expect(200);
      const after = await shop.test.get(`${ENDPOINTS}?starting_after=${ids[2]}`).expect(200);
      assert.deepEqual(idsOf(after.body), ids.slice(3));
      const before = await shop.test.get(`${ENDPOINTS}?ending_before=${ids[2]}`).expect(200);
      assert.deepEqual(idsOf(before.body), ids.slice(0, 2));
      await shop.test.delete(`${ENDPOINTS}/${ids[4]}`).expect(200);
      const end = await shop.test.get(`${ENDPOINTS}?starting_after=${ids[4]}`).expect(200);
      assert.deepEqual([end.body.data, end.body.has_more], [[], false]);
    });

    it('refuse unknown parameters, and both cursors', async () => {
      const shop = await newShop();
      const [id] = await insertEndpoints(shop.accountId, 1);
      assertInvalid(await shop.test.get(`${ENDPOINTS}?status=enabled`), 'parameter_unknown', 'status');
      assertInvalid(await shop.test.get(`${ENDPOINTS}/${id}?expand[]=x`), 'parameter_unknown', 'expand');
      const both = await shop.test.get(`${ENDPOINTS}?starting_after=${id}&ending_before=${id}`);
      assertInvalid(both, 'parameters_exclusive', 'ending_before');
    });
  });

  it('answer other methods 405, with those that are possible', async () => {
    const shop = await newShop();
    const [id] = await insertEndpoints(shop.accountId, 1);
    for (const [path, methods, allow] of [
      [ENDPOINTS, ['put', 'patch', 'delete', 'options'], 'GET, HEAD, POST'],
      [`${ENDPOINTS}/${id}`, ['put', 'patch', 'options'], 'GET, HEAD, POST, DELETE'],
    ] as const) {
      for (const method of methods) {
        const res = await shop.test.send(method, path);
        assertRefusal(res, 405, { type: 'invalid_request_error', code: 'method_not_allowed' });
        assert.equal(res.get('Allow'), allow);
      }
    }
  });
});
