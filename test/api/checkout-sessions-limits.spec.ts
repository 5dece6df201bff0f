import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { buildMerchant, buildSession } from '../../lab/world/shop/factories.js';
import { assertBothInvalid, assertInvalid, client } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { minimal, SESSIONS } from '../support/orders.js';
import { urlOf } from '../support/session-fields.js';
import { items, keys, SESSION_LIMITS } from '../support/session-limits.js';
import { stopClockOnSecond } from '../support/stopped-clock.js';

describe('the limits of checkout sessions', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildMerchant(app.db));
  const api = forAllTests(() => client(app, shop.testKey));
  afterEach(() => mock.restoreAll());

  for (const { name, body, allowed, refused } of SESSION_LIMITS) {
    for (const n of allowed) {
      it(`accept ${n} ${name}, and return what was sent`, async () => {
        for (const send of ['post', 'form'] as const) {
          const created = await api[send](SESSIONS, { ...body(n), expand: ['line_items'] });
          assert.equal(created.status, 200, created.text);
          const retrieved = await api.get(`${SESSIONS}/${created.body.id}?expand[]=line_items`).expect(200);
          assert.equal(retrieved.text, created.text);
        }
      });
    }
    for (const [n, code, param] of refused) {
      it(`refuse ${n} ${name}`, async () => {
        await assertBothInvalid(api, SESSIONS, body(n), code, param);
      });
    }
  }

  it('count metadata keys after empty values are removed', async () => {
    const metadata = { ...keys(50), empty: '' };
    const { body } = await api.post(SESSIONS, { ...minimal, metadata }).expect(200);
    assert.equal(Object.keys(body.metadata).length, 50);
  });

  it('measure success_url before its template is replaced', async () => {
    const template = '{CHECKOUT_SESSION_ID}';
    const { body } = await api
      .post(SESSIONS, { ...minimal, success_url: urlOf(5000 - template.length) + template })
      .expect(200);
    assert.ok(body.success_url.endsWith(body.id));
  });

  describe('of the total', () => {
    /** 90 items of the largest amount, an item that leaves a remainder, and the remainder: 2^53 - 1 cents. */
    const most = (rest: number) => ({
      line_items: [
        ...Array.from({ length: 90 }, () => ({
          price_data: { unit_amount: 99_999_999, product_data: { name: 'A' } },
          quantity: 999_999,
        })),
        { price_data: { unit_amount: 99_999_999, product_data: { name: 'A' } }, quantity: 72_083 },
        { price_data: { unit_amount: rest, product_data: { name: 'A' } } },
      ],
    });

    it('accept 9007199254740991 cents exactly', async () => {
      for (const send of ['post', 'form'] as const) {
        const { text, body } = await api[send](SESSIONS, most(44_812_984)).expect(200);
        assert.ok(text.includes('"amount_total":9007199254740991,'), text);
        assert.equal((await api.get(`${SESSIONS}/${body.id}`)).text, text);
      }
    });

    it('refuse one cent more', async () => {
      await assertBothInvalid(api, SESSIONS, most(44_812_985), 'amount_too_large', 'line_items');
    });
  });

  describe('of expires_at, with 10 seconds of leeway at both ends', () => {
    const HALF_HOUR = 30 * 60;
    const DAY = 24 * 3600;

    for (const lifetime of [HALF_HOUR - 10, HALF_HOUR, DAY, DAY + 10]) {
      it(`accept ${lifetime} seconds from now`, async () => {
        const expiresAt = stopClockOnSecond() + lifetime;
        for (const send of ['post', 'form'] as const) {
          const { body } = await api[send](SESSIONS, { ...minimal, expires_at: expiresAt }).expect(200);
          assert.equal(body.expires_at, expiresAt);
        }
      });
    }
    for (const lifetime of [HALF_HOUR - 11, DAY + 11, 0, -1]) {
      it(`refuse ${lifetime} seconds from now`, async () => {
        const body = { ...minimal, expires_at: stopClockOnSecond() + lifetime };
        await assertBothInvalid(api, SESSIONS, body, 'parameter_invalid_integer', 'expires_at');
      });
    }
    for (const expiresAt of [0, -1, 1e15, Number.MAX_SAFE_INTEGER]) {
      it(`refuse the time ${expiresAt}`, async () => {
        const res = await api.post(SESSIONS, { ...minimal, expires_at: expiresAt });
        assertInvalid(res, 'parameter_invalid_integer', 'expires_at');
      });
    }
    it('default to 24 hours', async () => {
      const seconds = stopClockOnSecond();
      assert.equal((await api.post(SESSIONS, minimal)).body.expires_at, seconds + DAY);
    });
  });

  describe('of lists', () => {
    const tooMany = 101;
    const owner = forAllTests(() => buildMerchant(app.db));
    let sessionId: string;
    before(async () => {
      for (let i = 0; i < tooMany; i++) await buildSession(app.db, owner.accountId);
      const session = await client(app, owner.testKey).post(SESSIONS, { line_items: items(100) });
      sessionId = session.body.id;
    });

    it('return 10 sessions without limit, 1 to 100 with it', async () => {
      const list = client(app, owner.testKey);
      for (const [query, count] of [
        ['', 10],
        ['?limit=', 10],
        ['?limit=1', 1],
        ['?limit=100', 100],
      ] as const) {
        const { body } = await list.get(`${SESSIONS}${query}`).expect(200);
        assert.equal(body.data.length, count, query);
        assert.equal(body.has_more, true);
      }
    });

    it('return all 100 line items without limit, 1 to 100 with it', async () => {
      const list = client(app, owner.testKey);
      for (const [query, count] of [
        ['', 100],
        ['?limit=', 100],
        ['?limit=1', 1],
        ['?limit=100', 100],
      ] as const) {
        const { body } = await list.get(`${SESSIONS}/${sessionId}/line_items${query}`).expect(200);
        assert.equal(body.data.length, count, query);
        assert.equal(body.has_more, count < 100);
      }
    });

    for (const limit of ['0', '101', '-1']) {
      it(`refuse limit=${limit}`, async () => {
        const list = client(app, owner.testKey);
        for (const path of [
          SESSIONS,
          `${SESSIONS}/${sessionId}/line_items`,
          '/v1/payments',
          '/v1/webhook_endpoints',
        ]) {
          assertInvalid(await list.get(`${path}?limit=${limit}`), 'parameter_invalid_integer', 'limit');
        }
      });
    }
  });

  it('ignore an empty Idempotency-Key', async () => {
    const ids = new Set<string>();
    for (let i = 0; i < 2; i++) {
      ids.add((await api.post(SESSIONS, minimal).set('Idempotency-Key', '').expect(200)).body.id);
    }
    assert.equal(ids.size, 2);
  });

  for (const param of ['success_url', 'cancel_url']) {
    it(`accept a host of 253 characters in ${param}, and refuse 254`, async () => {
      const withHost = (length: number) => ({ ...minimal, [param]: `https://${'ü'.repeat(length)}:8080/` });
      await api.post(SESSIONS, withHost(253)).expect(200);
      await assertBothInvalid(api, SESSIONS, withHost(254), 'url_invalid', param);
    });
  }

  describe('of the body', () => {
    it('answer a megabyte of hostile names and nesting like small ones', async () => {
      const hostile = [
        `{"metadata":{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":"v"`).join(',')}},"line_items":[]}`,
        `{"line_items":${'['.repeat(300_000)}${']'.repeat(300_000)}}`,
        `{"line_items":[${'{},'.repeat(300_000)}{}]}`,
      ];
      for (const text of hostile) assert.equal((await api.post(SESSIONS, text)).status, 400);
      const forms = [
        'line_items[]=&'.repeat(100_000),
        `a${'[b]'.repeat(400_000)}=1`,
        'a[b[c]='.repeat(150_000),
        Array.from({ length: 60_000 }, (_, i) => `metadata[${i}]=1`).join('&'),
      ];
      for (const text of forms) assert.equal((await api.form(SESSIONS, text)).status, 400);
    });
  });
});
