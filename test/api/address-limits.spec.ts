import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import request from 'supertest';
import { buildKey, buildMerchant } from '../../lab/world/shop/factories.js';
import { revokeApiKey } from '../../shared/accounts/api-keys.js';
import { PROMPT_REFUSALS_A_MINUTE, REFUSED_LATER_MS } from '../../shared/limits/bounds.js';
import { newId, randomText } from '../../shared/values/ids.js';
import { assertLimited, assertUnauthenticated, client } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { PAYMENTS } from '../support/orders.js';
import { allStatements } from '../support/query-plans.js';

const LINKS = 20;
/** A tenth of the limit for links. */
const SHARE = 2;
const SETTINGS = { RATE_LIMIT_LINK_PER_MINUTE: String(LINKS), TRUST_PROXY: '1' };

const stores = { Redis: SETTINGS, Postgres: { ...SETTINGS, REDIS_URL: '' } };
for (const [store, settings] of Object.entries(stores)) {
  describe(`limits per address, on ${store}`, () => {
    const app = forAllTests(() => openTestApp(settings));
    const shop = forAllTests(() => buildMerchant(app.db));

    const from = (address: string) => ({ 'X-Forwarded-For': address });
    const hex = (bytes: number): string => randomBytes(bytes).toString('hex');
    /** A new address for each test, since counts persist. */
    const newNetwork = (): string => `2001:db8:${hex(2)}:${hex(2)}`;
    const newIpv4 = (): string => `10.${[...randomBytes(3)].join('.')}`;
    const visit = (address: string, below = '') =>
      request(app.server)
        .get(`/c/${newId('cs_test_')}${below}`)
        .set(from(address));
    const withKey = (key: string, address: string) => client(app, key).get(PAYMENTS).set(from(address));
    const unknownKey = (): string => `svc_ck_test_${randomText(40)}`;

    for (const path of ['/c/{id}', '/c/{id}/page'])
      it(`count a /64 of IPv6 as one address, and the next /64 as another, at ${path}`, async () => {
        const network = newNetwork();
        const below = path.replace('/c/{id}', '');
        for (let n = 0; n < LINKS + 5; n += 1) {
          const { status } = await visit(`${network}:${hex(2)}:${hex(2)}:${hex(2)}:${hex(2)}`, below);
          assert.equal(status, n < LINKS ? 404 : 429);
        }
        assert.equal((await visit(`${newNetwork()}::1`, below)).status, 404);
      });

    it('refuse an address after its limit of refused keys', async () => {
      const network = newNetwork();
      const wrong = ['no-key', 'svc_ck_test_short'];
      for (let n = 0; n < LINKS + 2; n += 1) {
        const res = await withKey(wrong[n % 4] ?? unknownKey(), `${network}::${n}`);
        if (n < LINKS) assertUnauthenticated(res, 'api_key_invalid');
        else {
          assertLimited(res);
          assert.match(res.get('Retry-After') ?? '', /^([1-9]|[1-5]\d|60)$/);
        }
      }
      assertUnauthenticated(await withKey(unknownKey(), newIpv4()), 'api_key_invalid');
    });

    it('count refused keys of the API, of tools and of sign-up together', async () => {
      const address = newIpv4();
      const post = (path: string, key: string) => client(app, key).post(path, {}).set(from(address));
      for (let n = 0; n < LINKS; n += 2) {
        assertUnauthenticated(await post('/mcp', unknownKey()), 'api_key_invalid');
        assertUnauthenticated(await post('/v1/keys', 'no-token'), 'token_invalid');
      }
      for (const path of ['/mcp', '/v1/keys', '/v1/checkout/sessions']) {
        assertLimited(await post(path, unknownKey()));
      }
    });

    it('do not affect valid keys, and do not count requests without a key', async () => {
      const address = newIpv4();
      for (let n = 0; n < LINKS; n += 1) await withKey(unknownKey(), address);
      assert.equal((await withKey(unknownKey(), address)).status, 429);
      assert.equal((await withKey(shop.testKey, address)).status, 200);
      const { secret, key } = await buildKey(app.db, shop.accountId);
      assert.equal((await withKey(secret, address)).status, 200);
      await revokeApiKey(app.db, key.id);
      assertUnauthenticated(await withKey(secret, address), 'api_key_revoked');
      assert.equal((await withKey(secret, address)).status, 429);
      assert.equal((await withKey(shop.testKey, address)).status, 200);
      assertUnauthenticated(await client(app).get(PAYMENTS).set(from(address)), 'api_key_missing');
    });

    it('make an address that keeps trying wait longer, and do not affect other addresses', async () => {
      const address = newIpv4();
      for (let n = 0; n < LINKS; n += 1) await visit(address);
      const refuse = async (): Promise<void> => assert.equal((await visit(address)).status, 429);
      await Promise.all(Array.from({ length: PROMPT_REFUSALS_A_MINUTE }, refuse));
      const startedAt = performance.now();
      const answered: string[] = [];
      await Promise.all([
        refuse().then(() => answered.push('refused')),
        visit(newIpv4()).then(({ status }) => answered.push(String(status))),
      ]);
      assert.deepEqual(answered, ['404', 'refused']);
      // A timer may be early by less than a millisecond.
      assert.ok(performance.now() - startedAt > REFUSED_LATER_MS - 2);
    });

    it('send nothing to the store for a valid key', async () => {
      await withKey(shop.testKey, newIpv4()).expect(200);
      const { take } = app.addressLimiters.refusedKey;
      app.addressLimiters.refusedKey.take = () => assert.fail('a valid key was counted');
      const sent = await allStatements(app.db, () =>
        withKey(shop.testKey, newIpv4()).expect(200).then(),
      ).finally(() => {
        app.addressLimiters.refusedKey.take = take;
      });
      assert.ok(
        sent.length > 0 && !sent.some(({ sql }) => sql.includes('secret_sha256')),
        JSON.stringify(sent),
      );
    });

    for (const [what, send] of [
      [
        'transactions',
        () =>
          request(app.server)
            .post(`/c/${newId('cs_test_')}/transaction`)
            .send({}),
      ],
      ['balances', () => request(app.server).get(`/c/${newId('cs_test_')}/balances`)],
    ] as const) {
      it(`limit the ${what} that an address asks for, without affecting the link`, async () => {
        const address = newIpv4();
        const ask = () => send().set(from(address));
        for (let n = 0; n < SHARE; n += 1) assert.equal((await ask()).status, 400);
        const res = await ask();
        assert.deepEqual([res.status, res.body.error.code], [429, 'rate_limit']);
        assert.match(res.get('Retry-After') ?? '', /^([1-9]|[1-5]\d|60)$/);
        assert.equal((await visit(address)).status, 404);
      });
    }
  });
}

describe('a refused key', () => {
  const app = forAllTests(openTestApp);

  const lookUps = async (ask: () => Promise<unknown>): Promise<number> =>
    (await allStatements(app.db, ask)).filter(({ sql }) => sql.includes('secret_sha256')).length;

  const get = (key: string) => client(app, key).get(PAYMENTS).expect(401);

  it('causes no query when it is malformed', async () => {
    for (const key of [
      'x',
      'svc_ck_test_',
      `svc_ck_test_${'a'.repeat(101)}`,
      `svc_ck_prod_${'a'.repeat(40)}`,
    ]) {
      assert.equal(await lookUps(() => get(key)), 0, key);
    }
  });

  it('is looked up once when it is sent repeatedly', async () => {
    const key = `svc_ck_test_${randomText(40)}`;
    assert.equal(await lookUps(() => get(key)), 1);
    assert.equal(await lookUps(() => Promise.all([get(key), get(key), get(key)])), 0);
  });
});
