import assert from 'node:assert/strict';
import { nowMs, returnToPresent, travelMs } from '../../shared/clock.js';
import { newId, sessionPrefix } from '../../shared/ids.js';
import { createApiKey, revokeApiKey } from '../../shared/services/access/api-keys.js';
import {
  assertMissing,
  assertRefusal,
  assertUnauthenticated,
  type Client,
  client,
  type Method,
} from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { buildMerchant, buildPaidSession, type Merchant } from '../support/factories.js';

const SESSIONS = '/v1/checkout/sessions';
const ENDPOINTS = '/v1/webhook_endpoints';
const order = { line_items: [{ price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } }] };
const endpoint = { url: 'https://1.1.1.1/hooks' };

/** Every kind of request that needs a checkout key, those that are refused for other reasons included. */
const requests: [what: string, method: Method, path: string, body?: object | string][] = [
  ['creating a session', 'post', SESSIONS, order],
  ['creating a session without a body', 'post', SESSIONS],
  ['a body that is no JSON', 'post', SESSIONS, '{'],
  ['an unknown parameter', 'post', SESSIONS, { ...order, foo: 1 }],
  ['listing sessions', 'get', SESSIONS],
  ['a limit of 0', 'get', `${SESSIONS}?limit=0`],
  ['an unknown query parameter', 'get', `${SESSIONS}?foo=1`],
  ['a cursor that names nothing', 'get', `${SESSIONS}?starting_after=cs_test_1`],
  ['retrieving a session', 'get', `${SESSIONS}/cs_test_1`],
  ['an id that cannot be one', 'get', `${SESSIONS}/cs-test-1`],
  ['expiring a session', 'post', `${SESSIONS}/cs_test_1/expire`],
  ['listing line items', 'get', `${SESSIONS}/cs_test_1/line_items`],
  ['listing payments', 'get', '/v1/payments'],
  ['creating a webhook endpoint', 'post', ENDPOINTS, endpoint],
  ['a webhook URL that is not public', 'post', ENDPOINTS, { url: 'https://127.0.0.1/' }],
  ['listing webhook endpoints', 'get', ENDPOINTS],
  ['retrieving a webhook endpoint', 'get', `${ENDPOINTS}/we_1`],
  ['changing a webhook endpoint', 'post', `${ENDPOINTS}/we_1`, { description: 'x' }],
  ['deleting a webhook endpoint', 'delete', `${ENDPOINTS}/we_1`],
  ['an unknown path', 'get', '/v1/nothing'],
  ['the root', 'get', '/v1/'],
  ['a method that is not possible', 'delete', SESSIONS],
  ['a method that is not possible on a session', 'put', `${SESSIONS}/cs_test_1`],
  ['GET on /v1/keys', 'get', '/v1/keys'],
  ['OPTIONS', 'options', SESSIONS],
];

function send(api: Client, method: Method, path: string, body?: object | string): ReturnType<Client['get']> {
  return method === 'post' ? api.post(path, body) : api.send(method, path);
}

describe('authentication', () => {
  let app: TestApp;
  let shop: Merchant;
  before(async () => {
    app = await openTestApp();
    shop = await buildMerchant(app.db);
  });
  after(() => app.close());
  afterEach(() => returnToPresent());

  const basic = (user: string, password = ''): string =>
    `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

  describe('takes a key', () => {
    it('as a bearer token and as the user name of Basic, in any case of the scheme', async () => {
      for (const key of [shop.liveKey, shop.testKey]) {
        const headers = [
          `Bearer ${key}`,
          `bearer ${key}`,
          `BEARER  ${key}`,
          basic(key),
          basic(key).replace('B', 'b'),
        ];
        for (const header of headers) {
          await client(app).get(SESSIONS).set('Authorization', header).expect(200);
        }
      }
    });

    it('as curl -u and URLs send it', async () => {
      await client(app).get(SESSIONS).auth(shop.testKey, '').expect(200);
    });
  });

  describe('answers 401 before anything else', () => {
    for (const [what, method, path, body] of requests) {
      it(`without a key: ${what}`, async () => {
        assertUnauthenticated(await send(client(app), method, path, body), 'api_key_missing');
      });
      it(`with a key that nobody has: ${what}`, async () => {
        const api = client(app, `svc_ck_test_${'a'.repeat(40)}`);
        assertUnauthenticated(await send(api, method, path, body), 'api_key_invalid');
      });
    }
  });

  describe('refuses', () => {
    it('headers that hold no key as api_key_missing', async () => {
      for (const header of [
        '',
        'Bearer',
        'Bearer ',
        'Basic',
        'Basic ',
        'Basic !!!',
        basic(''),
        basic('', shop.testKey),
        shop.testKey,
        `Token ${shop.testKey}`,
        'Digest username="a"',
      ]) {
        const res = await client(app).get(SESSIONS).set('Authorization', header);
        assertUnauthenticated(res, 'api_key_missing');
      }
    });

    it('keys in other places', async () => {
      const key = shop.testKey;
      assertUnauthenticated(await client(app).get(`${SESSIONS}?api_key=${key}`), 'api_key_missing');
      assertUnauthenticated(await client(app).get(SESSIONS).set('X-Api-Key', key), 'api_key_missing');
      const res = await client(app).form(SESSIONS, { ...order, key });
      assertUnauthenticated(res, 'api_key_missing');
    });

    it('anything but a whole key as api_key_invalid, and repeats none of it', async () => {
      const key = shop.testKey;
      const wrong = [
        key.slice(0, -1),
        `${key}a`,
        key.toUpperCase(),
        key.replace('svc_ck_test_', 'svc_ck_live_'),
        key.replace('svc_ck_test_', ''),
        key.replace('svc_ck_', 'sk_'),
        `svc_sk_${'a'.repeat(40)}`,
        'svc_ck_test_',
        "svc_ck_test_'OR'1'='1",
        'k'.repeat(7000),
      ];
      for (const text of wrong) {
        for (const header of [`Bearer ${text}`, basic(text)]) {
          const res = await client(app).get(SESSIONS).set('Authorization', header);
          assertUnauthenticated(res, 'api_key_invalid');
          const secrets = [key.slice(20), text.replace(/^svc_ck_test_/, '')].filter((part) => part !== '');
          for (const secret of secrets) assert.ok(!res.text.includes(secret), res.text);
        }
      }
    });
  });

  describe('refuses a revoked key on the very next request', () => {
    async function revokedKey(use?: (api: Client) => Promise<unknown>): Promise<Client> {
      const { key, secret } = await createApiKey(app.db, {
        accountId: shop.accountId,
        livemode: false,
        name: 'Short-lived',
      });
      const api = client(app, secret);
      await use?.(api);
      await revokeApiKey(app.db, key.id);
      return api;
    }
    const useIt = (api: Client) => api.get(SESSIONS).expect(200);

    for (const [what, method, path, body] of requests) {
      it(`that was never used: ${what}`, async () => {
        assertUnauthenticated(await send(await revokedKey(), method, path, body), 'api_key_revoked');
      });
      it(`that was used just before: ${what}`, async () => {
        assertUnauthenticated(await send(await revokedKey(useIt), method, path, body), 'api_key_revoked');
      });
    }

    it('also as a Basic user name', async () => {
      const { key, secret } = await createApiKey(app.db, {
        accountId: shop.accountId,
        livemode: false,
        name: 'Basic',
      });
      const get = () => client(app).get(SESSIONS).set('Authorization', basic(secret));
      await get().expect(200);
      await revokeApiKey(app.db, key.id);
      assertUnauthenticated(await get(), 'api_key_revoked');
    });

    const objects: [
      what: string,
      create: (api: Client) => Promise<string>,
      method: Method,
      suffix: string,
      body?: object,
    ][] = [
      ['retrieving its session', createSession, 'get', ''],
      ['expiring its session', createSession, 'post', '/expire'],
      ['listing its line items', createSession, 'get', '/line_items'],
      ['retrieving its webhook endpoint', createEndpoint, 'get', ''],
      ['changing its webhook endpoint', createEndpoint, 'post', '', { disabled: true }],
      ['deleting its webhook endpoint', createEndpoint, 'delete', ''],
    ];
    for (const [what, create, method, suffix, body] of objects) {
      it(`that was used just before: ${what}`, async () => {
        let path = '';
        const api = await revokedKey(async (used) => {
          path = await create(used);
        });
        assertUnauthenticated(await send(api, method, path + suffix, body), 'api_key_revoked');
        const { body: object } = await client(app, shop.testKey).get(path).expect(200);
        assert.ok(object.status === 'open' || object.status === 'enabled', 'it stays as it was');
      });
    }

    const replayed: [what: string, path: string, body: object][] = [
      ['a session', SESSIONS, order],
      ['a webhook endpoint with its signing secret', ENDPOINTS, endpoint],
    ];
    for (const [what, path, body] of replayed) {
      it(`that was used just before: not even ${what} is replayed`, async () => {
        const create = (api: Client) => api.post(path, body).set('Idempotency-Key', `replay ${what}`);
        const api = await revokedKey((used) => create(used).expect(200));
        assertUnauthenticated(await create(api), 'api_key_revoked');
      });
    }

    it('that was used just before: nor what an Idempotency-Key was used for', async () => {
      const create = (api: Client, body: object) => api.post(SESSIONS, body).set('Idempotency-Key', 'told');
      const api = await revokedKey((used) => create(used, order).expect(200));
      assertUnauthenticated(await create(api, { ...order, mode: 'payment' }), 'api_key_revoked');
    });

    it('that was used just before: not even when its request has become invalid meanwhile', async () => {
      travelMs(-3_600_000);
      const body = { ...order, expires_at: Math.floor(nowMs() / 1000) + 1800 };
      const create = (api: Client) => api.post(SESSIONS, body).set('Idempotency-Key', 'too late');
      const api = await revokedKey((used) => create(used).expect(200));
      returnToPresent();
      assertUnauthenticated(await create(api), 'api_key_revoked');
    });

    it('and leaves the other keys of the account alone', async () => {
      await revokedKey(useIt);
      await client(app, shop.testKey).get(SESSIONS).expect(200);
      await client(app, shop.liveKey).get(SESSIONS).expect(200);
    });
  });

  async function createSession(api: Client): Promise<string> {
    return `${SESSIONS}/${(await api.post(SESSIONS, order).expect(200)).body.id}`;
  }
  async function createEndpoint(api: Client): Promise<string> {
    return `${ENDPOINTS}/${(await api.post(ENDPOINTS, endpoint).expect(200)).body.id}`;
  }

  describe('shows a key the objects of its own account and mode alone', () => {
    /** One account in one mode, with an object of each kind. */
    interface Owner {
      name: string;
      account: string;
      livemode: boolean;
      api: Client;
      session: string;
      lineItem: string;
      payment: string;
      paidSession: string;
      endpoint: string;
    }
    const owners: Owner[] = [];

    before(async () => {
      for (const account of ['A', 'B']) {
        const merchant = await buildMerchant(app.db);
        for (const livemode of [true, false]) {
          const api = client(app, livemode ? merchant.liveKey : merchant.testKey);
          const session = await api.post(SESSIONS, { ...order, expand: ['line_items'] }).expect(200);
          const paid = await buildPaidSession(app.db, merchant.accountId, { livemode });
          owners.push({
            name: `${account} ${livemode ? 'live' : 'test'}`,
            account,
            livemode,
            api,
            session: session.body.id,
            lineItem: session.body.line_items.data[0].id,
            payment: paid.payment.id,
            paidSession: paid.session.id,
            endpoint: (await api.post(ENDPOINTS, endpoint).expect(200)).body.id,
          });
        }
      }
    });

    /** Every way to name an object; each changes it when it is one's own. */
    const ways: [
      what: string,
      method: Method,
      path: (owner: Owner) => string,
      param: string,
      body?: object,
    ][] = [
      ['retrieving a session', 'get', ({ session }) => `${SESSIONS}/${session}`, 'id'],
      ['retrieving a paid session', 'get', ({ paidSession }) => `${SESSIONS}/${paidSession}`, 'id'],
      ['listing line items', 'get', ({ session }) => `${SESSIONS}/${session}/line_items`, 'id'],
      ['retrieving a webhook endpoint', 'get', (owner) => `${ENDPOINTS}/${owner.endpoint}`, 'id'],
      ...['starting_after', 'ending_before'].flatMap((param): typeof ways => [
        [`${param} a session`, 'get', ({ session }) => `${SESSIONS}?${param}=${session}`, param],
        [`${param} a payment`, 'get', ({ payment }) => `/v1/payments?${param}=${payment}`, param],
        [`${param} a webhook endpoint`, 'get', (owner) => `${ENDPOINTS}?${param}=${owner.endpoint}`, param],
      ]),
      [
        'changing a webhook endpoint',
        'post',
        (owner) => `${ENDPOINTS}/${owner.endpoint}`,
        'id',
        { disabled: true },
      ],
      ['deleting a webhook endpoint', 'delete', (owner) => `${ENDPOINTS}/${owner.endpoint}`, 'id'],
      ['expiring a session', 'post', ({ session }) => `${SESSIONS}/${session}/expire`, 'id'],
    ];

    it('in lists', async () => {
      for (const { api, session, paidSession, payment, endpoint: ownEndpoint, livemode } of owners) {
        const lists: [path: string, ids: string[]][] = [
          [SESSIONS, [paidSession, session]],
          [`${SESSIONS}?status=open`, [session]],
          [`${SESSIONS}?created[gte]=0`, [paidSession, session]],
          ['/v1/payments', [payment]],
          [ENDPOINTS, [ownEndpoint]],
        ];
        for (const [path, ids] of lists) {
          const { data } = (await api.get(path).expect(200)).body;
          assert.deepEqual(
            data.map(({ id }: { id: string }) => id),
            ids,
            path,
          );
          for (const object of data) assert.equal(object.livemode, livemode);
        }
      }
    });

    for (const [what, method, path, param, body] of ways) {
      it(`${what}: 404 for everyone else, then 200 for its owner`, async () => {
        for (const owner of owners) {
          for (const other of owners) {
            if (other === owner) continue;
            const res = await send(other.api, method, path(owner), body);
            assert.equal(res.status, 404, `${other.name} on ${owner.name}: ${res.text}`);
            assertMissing(res, param);
          }
          const own = await send(owner.api, method, path(owner), body);
          assert.equal(own.status, 200, `${owner.name}: ${own.text}`);
        }
      });
    }

    it('line items: a cursor of another session is 404', async () => {
      for (const { api, session, paidSession, lineItem } of owners) {
        await api.get(`${SESSIONS}/${session}/line_items?starting_after=${lineItem}`).expect(200);
        for (const param of ['starting_after', 'ending_before']) {
          assertMissing(await api.get(`${SESSIONS}/${paidSession}/line_items?${param}=${lineItem}`), param);
        }
      }
    });

    it('tells an account of an id of its other mode, and nobody of another account’s', async () => {
      for (const owner of owners) {
        for (const other of owners.filter(({ account }) => account !== owner.account)) {
          const nobodys = newId(sessionPrefix(owner.livemode));
          const messages = [];
          for (const id of [owner.session, nobodys]) {
            const { body } = await other.api.get(`${SESSIONS}/${id}`).expect(404);
            messages.push(body.error.message.replace(id, '…'));
          }
          assert.equal(messages[0], messages[1]);
        }
      }
    });

    it('idempotency keys: the same one means another session for each', async () => {
      const ids = new Set<string>();
      for (const { api } of owners) {
        const res = await api.post(SESSIONS, order).set('Idempotency-Key', 'shared by chance').expect(200);
        assert.equal(res.get('Idempotent-Replayed'), undefined);
        ids.add(res.body.id);
      }
      assert.equal(ids.size, owners.length);
    });
  });

  describe('answers 405 with Allow to a method that a path does not have', () => {
    const allowed: [path: string, allow: string][] = [
      [SESSIONS, 'GET, HEAD, POST'],
      [`${SESSIONS}/cs_test_1`, 'GET, HEAD'],
      [`${SESSIONS}/cs_test_1/expire`, 'POST'],
      [`${SESSIONS}/cs_test_1/line_items`, 'GET, HEAD'],
      ['/v1/payments', 'GET, HEAD'],
      [ENDPOINTS, 'GET, HEAD, POST'],
      [`${ENDPOINTS}/we_1`, 'GET, HEAD, POST, DELETE'],
      ['/v1/keys', 'POST'],
    ];
    const methods: Method[] = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'];
    for (const [path, allow] of allowed) {
      for (const method of methods.filter((one) => !allow.includes(one.toUpperCase()))) {
        // POST /v1/keys is the one request that a checkout key does not open.
        it(`${method.toUpperCase()} ${path}`, async () => {
          const res = await client(app, shop.testKey).send(method, path);
          assert.equal(res.status, 405);
          assert.equal(res.get('Allow'), allow);
          const refusal = { type: 'invalid_request_error', code: 'method_not_allowed' } as const;
          if (method !== 'head') assertRefusal(res, 405, refusal);
        });
      }
    }
  });
});
