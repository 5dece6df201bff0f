import { buildMerchant, buildRevokedKey } from '../../lab/world/shop/factories.js';
import { advanceClock, nowMs, resetClock } from '../../shared/process/clock.js';
import { assertUnauthenticated, type Client, client, type Method } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { ENDPOINTS, minimal, SESSIONS } from '../support/orders.js';

/**
 * Requests that would be refused for other reasons. `isolation.spec.ts` sends every operation of the API document,
 * `hostile-input/headers.spec.ts` every shape of the header.
 */
const requests: [what: string, method: Method, path: string, body?: object | string][] = [
  ['a missing body', 'post', SESSIONS],
  ['a body that is not JSON', 'post', SESSIONS, '{'],
  ['an unknown parameter', 'post', SESSIONS, { ...minimal, foo: 1 }],
  ['a limit of 0', 'get', `${SESSIONS}?limit=0`],
  ['an unknown query parameter', 'get', `${SESSIONS}?foo=1`],
  ['a cursor that names no object', 'get', `${SESSIONS}?starting_after=cs_test_1`],
  ['a malformed id', 'get', `${SESSIONS}/cs-test-1`],
  ['a webhook URL that is not public', 'post', ENDPOINTS, { url: 'https://127.0.0.1/' }],
  ['an unknown path', 'get', '/v1/nothing'],
  ['the root', 'get', '/v1/'],
  ['an unsupported method', 'delete', SESSIONS],
  ['an unsupported method on a session', 'put', `${SESSIONS}/cs_test_1`],
  ['OPTIONS', 'options', SESSIONS],
];

describe('authentication', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildMerchant(app.db));
  afterEach(() => resetClock());

  const basic = (user: string, password = ''): string =>
    `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

  it('accepts a key as bearer token and as Basic user name, with the scheme in any case', async () => {
    for (const key of [shop.liveKey, shop.testKey]) {
      const asBasic = basic(key);
      const bearers = [`Bearer ${key}`, `bearer ${key}`, `BEARER  ${key}`];
      for (const header of [...bearers, asBasic, asBasic.replace('B', 'b')])
        await client(app).get(SESSIONS).set('Authorization', header).expect(200);
    }
  });

  const withRevoked = async (use: (api: Client) => PromiseLike<unknown>): Promise<Client> =>
    client(app, await buildRevokedKey(app.db, shop.accountId, (key) => use(client(app, key))));
  const useIt = (api: Client) => api.get(SESSIONS).expect(200);

  describe('answers 401 before any other error, also to a key that was revoked after its last request', () => {
    for (const [what, method, path, body] of requests) {
      it(what, async () => {
        const unknown = client(app, `svc_ck_test_${'a'.repeat(40)}`);
        for (const [api, code] of [
          [client(app), 'api_key_missing'],
          [unknown, 'api_key_invalid'],
          [await withRevoked(useIt), 'api_key_revoked'],
        ] as const)
          assertUnauthenticated(await api.send(method, path, body), code);
      });
    }
  });

  it('refuses keys in other places', async () => {
    const key = shop.testKey;
    assertUnauthenticated(await client(app).get(`${SESSIONS}?api_key=${key}`), 'api_key_missing');
    assertUnauthenticated(await client(app).get(SESSIONS).set('X-Api-Key', key), 'api_key_missing');
    assertUnauthenticated(await client(app).form(SESSIONS, { ...minimal, key }), 'api_key_missing');
  });

  describe('refuses a key that was revoked after its last request', () => {
    it('also as Basic user name', async () => {
      const get = (key: string) => client(app).get(SESSIONS).set('Authorization', basic(key));
      const key = await buildRevokedKey(app.db, shop.accountId, (used) => get(used).expect(200));
      assertUnauthenticated(await get(key), 'api_key_revoked');
    });

    it('without a replay for its Idempotency-Key', async () => {
      const create = (api: Client, body: object) => api.post(SESSIONS, body).set('Idempotency-Key', 'told');
      const api = await withRevoked((used) => create(used, minimal).expect(200));
      assertUnauthenticated(await create(api, { ...minimal, mode: 'payment' }), 'api_key_revoked');
    });

    it('also when its request has become invalid', async () => {
      advanceClock(-3_600_000);
      const body = { ...minimal, expires_at: Math.floor(nowMs() / 1000) + 1800 };
      const create = (api: Client) => api.post(SESSIONS, body).set('Idempotency-Key', 'too late');
      const api = await withRevoked((used) => create(used).expect(200));
      resetClock();
      assertUnauthenticated(await create(api), 'api_key_revoked');
    });

    it('and accepts the other keys of the account', async () => {
      await withRevoked(useIt);
      for (const key of [shop.testKey, shop.liveKey]) await useIt(client(app, key));
    });
  });
});
