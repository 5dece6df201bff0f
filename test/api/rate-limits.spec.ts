import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { buildKey, buildMerchant, type Merchant } from '../../lab/world/shop/factories.js';
import { revokeApiKey } from '../../shared/accounts/api-keys.js';
import {
  assertLimited,
  assertUnauthenticated,
  buildSigner,
  type Client,
  client,
  signToken,
} from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { PAYMENTS } from '../support/orders.js';
import { captureStatements } from '../support/query-plans.js';
import { stopClock } from '../support/stopped-clock.js';

/** Requests per second, with a burst of as many again. */
const PER_SECOND = 3;
const SHARE = 2 * PER_SECOND;
const environment = { RATE_LIMIT_API_PER_SECOND: String(PER_SECOND) };

/**
 * The limit counts real seconds. To make tests independent of their speed, the windows of each store are held open:
 * in Redis by extending the TTL of their keys to half a minute, in Postgres by stopping the clock that is passed to it.
 */
interface Store {
  environment: Record<string, string>;
  /** Returns false when no window was open. */
  holdWindows(app: TestApp, accountId: string): Promise<boolean>;
  endWindows(app: TestApp, accountId: string): Promise<void>;
}

async function windowsOf({ redis }: TestApp, accountId: string): Promise<string[]> {
  return (await redis?.keys(`*${accountId}*`)) ?? [];
}

const stores: Record<string, Store> = {
  Redis: {
    environment,
    async holdWindows(app, accountId) {
      let held = 0;
      for (const key of await windowsOf(app, accountId)) held += (await app.redis?.pexpire(key, 30_000)) ?? 0;
      return held > 0;
    },
    async endWindows(app, accountId) {
      const keys = await windowsOf(app, accountId);
      if (keys.length > 0) await app.redis?.del(keys);
    },
  },
  Postgres: {
    environment: { ...environment, REDIS_URL: '' },
    async holdWindows() {
      stopClock();
      return true;
    },
    async endWindows() {
      const later = Date.now() + 60_000;
      mock.restoreAll();
      mock.method(Date, 'now', () => later);
    },
  },
};

for (const [name, store] of Object.entries(stores)) {
  describe(`the rate limit of two processes on ${name}`, () => {
    let apps: TestApp[];
    let first: TestApp;
    before(async () => {
      apps = [await openTestApp(store.environment), await openTestApp(store.environment)];
      [first] = apps as [TestApp, TestApp];
    });
    after(() => Promise.all(apps.map((app) => app.close())));
    afterEach(() => mock.restoreAll());

    const everywhere = (key: string): Client[] => apps.map((app) => client(app, key));

    /** A merchant whose windows, opened by one request with this key, do not end. */
    async function withWindowsHeld(keyOf: (merchant: Merchant) => string): Promise<Merchant> {
      const merchant = await buildMerchant(first.db);
      if (name === 'Postgres') await store.holdWindows(first, merchant.accountId);
      let held = false;
      while (!held) {
        await client(first, keyOf(merchant)).get(PAYMENTS).expect(200);
        held = name === 'Postgres' || (await store.holdWindows(first, merchant.accountId));
      }
      return merchant;
    }

    /** Outcomes of `count` requests, alternating between the processes. */
    async function statuses(apis: Client[], count: number): Promise<number[]> {
      const found: number[] = [];
      for (let i = 0; i < count; i++) {
        const res = await (apis[i % apis.length] as Client).get(PAYMENTS);
        if (res.status !== 200) assertLimited(res);
        found.push(res.status);
      }
      return found;
    }

    it(`allows ${SHARE} requests of an account and mode, then answers 429 with Retry-After`, async () => {
      const merchant = await withWindowsHeld(({ testKey }) => testKey);
      const expected = [...Array(SHARE - 1).fill(200), 429, 429, 429, 429];
      assert.deepEqual(await statuses(everywhere(merchant.testKey), SHARE + 3), expected);
    });

    it('allows no more for concurrent requests', async () => {
      const merchant = await withWindowsHeld(({ testKey }) => testKey);
      const apis = everywhere(merchant.testKey);
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, i) => (apis[i % 2] as Client).get(PAYMENTS)),
      );
      for (const res of answers) if (res.status !== 200) assertLimited(res);
      assert.equal(answers.filter(({ status }) => status === 200).length, SHARE - 1);
    });

    it('counts modes and accounts separately, and all keys of an account together', async () => {
      const merchant = await withWindowsHeld(({ testKey }) => testKey);
      await statuses(everywhere(merchant.testKey), SHARE);
      const { secret } = await buildKey(first.db, merchant.accountId);
      assert.deepEqual(await statuses(everywhere(secret), 2), [429, 429]);
      assert.deepEqual(await statuses(everywhere(merchant.liveKey), 2), [200, 200]);
      const other = await buildMerchant(first.db);
      assert.deepEqual(await statuses(everywhere(other.testKey), 2), [200, 200]);
    });

    it('counts every request of a key, whatever its response, and refuses all alike', async () => {
      const merchant = await withWindowsHeld(({ testKey }) => testKey);
      const api = client(first, merchant.testKey);
      await api.get('/v1/nothing').expect(404);
      await api.delete(PAYMENTS).expect(405);
      await api.post('/v1/checkout/sessions', {}).expect(400);
      await api.get('/v1/checkout/sessions/cs_test_1').expect(404);
      await api.get(`${PAYMENTS}?limit=0`).expect(400);
      assertLimited(await api.get('/v1/nothing'));
      assertLimited(await api.delete(PAYMENTS));
      assertLimited(await api.post('/v1/checkout/sessions', '{'));
      assertLimited(await api.post('/v1/webhook_endpoints', { url: 'https://1.1.1.1/' }));
    });

    it('runs no query for an account that was refused last time', async () => {
      const merchant = await withWindowsHeld(({ testKey }) => testKey);
      assert.equal((await statuses([client(first, merchant.testKey)], SHARE)).at(-1), 429);
      const statements = await captureStatements(first.db, async () => {
        for (const path of [PAYMENTS, '/v1/nothing', '/v1/checkout/sessions/cs_test_1'])
          assertLimited(await client(first, merchant.testKey).get(path));
      });
      // Except the check of the key and the counting in Postgres.
      const others = statements.filter(
        ({ sql }) => !/"?(api_keys|rate_limits)"?/.test(sql.split(/\bfrom\b/i, 2)[1] ?? sql),
      );
      assert.deepEqual(others, []);
    });

    it('does not count requests of unknown keys, and counts only the first of a revoked key', async () => {
      const merchant = await withWindowsHeld(({ testKey }) => testKey);
      const { key, secret } = await buildKey(first.db, merchant.accountId);
      const leaked = client(first, secret);
      await leaked.get(PAYMENTS).expect(200);
      await revokeApiKey(first.db, key.id);
      for (let i = 0; i < SHARE; i++) assertUnauthenticated(await leaked.get(PAYMENTS), 'api_key_revoked');
      for (let i = 0; i < SHARE; i++) {
        assertUnauthenticated(await client(first, `${merchant.testKey}x`).get(PAYMENTS), 'api_key_invalid');
      }
      const left = SHARE - 3;
      assert.deepEqual(await statuses([client(first, merchant.testKey)], left), Array(left).fill(200));
    });

    it('allows the full share again when its windows have ended', async () => {
      const merchant = await withWindowsHeld(({ testKey }) => testKey);
      const apis = everywhere(merchant.testKey);
      assert.equal((await statuses(apis, SHARE)).at(-1), 429);
      await store.endWindows(first, merchant.accountId);
      assert.equal((await statuses(apis, 1)).at(-1), 200);
    });

    it('counts agent sign-up before its body is read', async () => {
      const merchant = await withWindowsHeld(({ liveKey }) => liveKey);
      const token = signToken(await buildSigner(first.db, merchant.accountId));
      for (let i = 0; i < SHARE - 1; i++) await client(first, token).post('/v1/keys', '{').expect(400);
      assertLimited(await client(first, token).post('/v1/keys', '{'));
    });
  });
}

describe('the rate limit', () => {
  it('is 100 per second and twice that in a burst by default', async () => {
    const app = await openTestApp({ REDIS_URL: '', RATE_LIMIT_API_PER_SECOND: '' });
    try {
      const merchant = await buildMerchant(app.db);
      stopClock();
      const found: number[] = [];
      // Fewer requests at once than may wait for Postgres: on a busy machine, all of them wait.
      for (let sent = 0; sent < 210; sent += 70) {
        const answers = await Promise.all(
          Array.from({ length: 70 }, () => client(app, merchant.testKey).get(PAYMENTS)),
        );
        found.push(...answers.map(({ status }) => status));
      }
      assert.deepEqual(found.sort(), [...Array(200).fill(200), ...Array(10).fill(429)]);
    } finally {
      mock.restoreAll();
      await app.close();
    }
  });

  it('is counted per process while Redis does not answer: higher, but never off', async () => {
    const withoutRedis = { ...environment, REDIS_URL: 'redis://127.0.0.1:1' };
    const apps = await Promise.all([openTestApp(withoutRedis), openTestApp(withoutRedis)]);
    try {
      const merchant = await buildMerchant((apps[0] as TestApp).db);
      stopClock();
      for (const app of apps) {
        for (let i = 0; i < SHARE; i++) await client(app, merchant.testKey).get(PAYMENTS).expect(200);
        assertLimited(await client(app, merchant.testKey).get(PAYMENTS));
      }
    } finally {
      mock.restoreAll();
      await Promise.all(apps.map((app) => app.close()));
    }
  });

  it('applies to /v1 only', async () => {
    const app = await openTestApp(environment);
    try {
      for (let i = 0; i < 3 * SHARE; i++) await client(app).get('/openapi.json').expect(200);
    } finally {
      await app.close();
    }
  });
});
