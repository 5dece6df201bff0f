import assert from 'node:assert/strict';
import type { Test } from 'supertest';
import { buildKey, buildSession } from '../../../lab/world/shop/factories.js';
import { updateAccount } from '../../../shared/accounts/accounts.js';
import { createApiKey, revokeApiKey } from '../../../shared/accounts/api-keys.js';
import { KEPT_FOR_MS } from '../../../shared/accounts/idempotency.js';
import { ApiKey } from '../../../shared/accounts/model.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import { newId } from '../../../shared/values/ids.js';
import { Event, WebhookEndpoint } from '../../../shared/webhooks/model.js';
import {
  assertInvalid,
  assertMissing,
  assertUnauthenticated,
  type Client,
  client,
} from '../../support/api-client.js';
import { openTestApp } from '../../support/app.js';
import { forAllTests, forEachTest } from '../../support/hooks.js';
import {
  assertReplay,
  assertReused,
  buildKeyedShop,
  hooks,
  keyed,
  PRIVATE,
} from '../../support/keyed-shop.js';
import { ENDPOINTS, minimal, SESSIONS } from '../../support/orders.js';

const MINUTE_MS = 60_000;
const ENDPOINT_LIMIT = 1000;

describe('Idempotency-Key', () => {
  const app = forAllTests(() => openTestApp(PRIVATE));
  const shop = forEachTest(() => buildKeyedShop(app));
  afterEach(() => resetClock());

  describe('replays', () => {
    it('the stored answer after the session has changed, with a new Request-Id', async () => {
      const first = await shop.create();
      const expired = await shop.test.post(`${SESSIONS}/${first.body.id}/expire`).expect(200);
      assert.equal(expired.body.status, 'expired');
      const again = await shop.create();
      assertReplay(again, first);
      assert.equal(again.body.status, 'open');
    });

    it('a create whose expires_at would be too near by now', async () => {
      advanceClock(-60 * MINUTE_MS);
      const body = { ...minimal, expires_at: Math.floor(nowMs() / 1000) + 31 * 60 };
      const first = await shop.create(body);
      resetClock();
      assertReplay(await shop.create(body), first);
      assertInvalid(await shop.create(body, 'another'), 'parameter_invalid_integer', 'expires_at');
    });

    it('an expire of a session that has expired, while another key gets checkout_session_not_open', async () => {
      const { id } = await buildSession(app.db, shop.accountId);
      const first = await keyed(shop.test.post(`${SESSIONS}/${id}/expire`));
      assertReplay(await keyed(shop.test.post(`${SESSIONS}/${id}/expire`)), first);
      assertInvalid(
        await keyed(shop.test.post(`${SESSIONS}/${id}/expire`), 'b'),
        'checkout_session_not_open',
        'id',
      );
      assert.equal(await Event.query(app.db).where({ payableId: id }).resultSize(), 1);
    });

    it('a webhook create with its secret, which neither row holds in plain text', async () => {
      const first = await keyed(shop.test.post(ENDPOINTS, hooks));
      const { id, secret } = first.body;
      const [record] = await shop.records();
      const row = await WebhookEndpoint.query(app.db).findById(id).throwIfNotFound();
      for (const column of [record?.answer ?? '', row.sealedSecret]) {
        for (const form of [secret, secret.slice('whsec_'.length), Buffer.from(secret).toString('hex')]) {
          assert.ok(!column.includes(form));
        }
      }
      assert.equal(record?.sealed, true);
      const all = await app.db.raw('SELECT r::text AS text FROM idempotency_records r WHERE account_id = ?', [
        shop.accountId,
      ]);
      assert.doesNotMatch(all.rows[0].text, /whsec_/);
      await shop.test.delete(`${ENDPOINTS}/${id}`).expect(200);
      assertReplay(await keyed(shop.test.post(ENDPOINTS, hooks)), first);
    });

    it('a webhook create that was sealed with the previous encryption key', async () => {
      const [older, newer] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')];
      const before = await openTestApp({ ...PRIVATE, ENCRYPTION_KEY: older });
      const after = await openTestApp({ ...PRIVATE, ENCRYPTION_KEY: `${newer},${older}` });
      try {
        const first = await keyed(client(before, shop.testKey).post(ENDPOINTS, hooks));
        assertReplay(await keyed(client(after, shop.testKey).post(ENDPOINTS, hooks)), first);
      } finally {
        await before.close();
        await after.close();
      }
    });

    it('a create of an account that has no wallets any more', async () => {
      const first = await shop.create();
      await updateAccount(app.db, shop.accountId, { evmWallet: null, solanaWallet: null });
      assertReplay(await shop.create(), first);
      assertInvalid(await shop.create(minimal, 'another'), 'payout_wallet_missing');
    });

    it('a webhook create of an account that has reached its limit of endpoints', async () => {
      const first = await keyed(shop.test.post(ENDPOINTS, hooks));
      const { id: _, ...like } = await WebhookEndpoint.query(app.db)
        .findById(first.body.id)
        .throwIfNotFound();
      const others = Array.from({ length: ENDPOINT_LIMIT - 1 }, () => ({ ...like, id: newId('we_') }));
      await WebhookEndpoint.query(app.db).insert(others);
      assertReplay(await keyed(shop.test.post(ENDPOINTS, hooks)), first);
      assertInvalid(await keyed(shop.test.post(ENDPOINTS, hooks), 'another'), 'webhook_endpoint_limit');
    });

    it('a webhook create whose host would be refused by now', async () => {
      const strict = await openTestApp();
      try {
        const body = { url: 'https://127.0.0.1/hooks' };
        const first = await keyed(shop.test.post(ENDPOINTS, body));
        const again = client(strict, shop.testKey);
        assertReplay(await keyed(again.post(ENDPOINTS, body)), first);
        assertInvalid(await keyed(again.post(ENDPOINTS, body), 'another'), 'url_invalid', 'url');
      } finally {
        await strict.close();
      }
    });

    it('an update of an endpoint that has been deleted since', async () => {
      const { id } = (await shop.test.post(ENDPOINTS, hooks)).body;
      const first = await keyed(shop.test.post(`${ENDPOINTS}/${id}`, { disabled: true }));
      await shop.test.delete(`${ENDPOINTS}/${id}`).expect(200);
      assertReplay(await keyed(shop.test.post(`${ENDPOINTS}/${id}`, { disabled: true })), first);
      assertMissing(await keyed(shop.test.post(`${ENDPOINTS}/${id}`, { disabled: true }), 'another'));
    });

    it('to another checkout key of the same account and mode', async () => {
      const first = await shop.create();
      const { secret } = await buildKey(app.db, shop.accountId);
      assertReplay(await keyed(client(app, secret).post(SESSIONS, minimal)), first);
    });

    it('for 24 hours; then the key is free for another request', async () => {
      advanceClock(-KEPT_FOR_MS + MINUTE_MS);
      const first = await shop.create(minimal, 'young');
      advanceClock(-2 * MINUTE_MS);
      const old = await shop.create(minimal, 'old');
      await shop.create(minimal, 'older');
      resetClock();
      assertReplay(await shop.create(minimal, 'young'), first);

      const other = { ...minimal, client_reference_id: 'other' };
      const next = await shop.create(other, 'old');
      assert.equal(next.status, 200, next.text);
      assert.notEqual(next.body.id, old.body.id);
      assertReplay(await shop.create(other, 'old'), next);
      assertReused(await shop.create(minimal, 'old'));

      const endpoint = await keyed(shop.test.post(ENDPOINTS, hooks), 'older');
      assertReplay(await keyed(shop.test.post(ENDPOINTS, hooks), 'older'), endpoint);
    });
  });

  describe('is not replayed to a checkout key that was revoked', () => {
    for (const [name, seen] of [
      ['that this process has seen', true],
      ['that this process has not seen', false],
    ] as const) {
      it(name, async () => {
        const first = await shop.create();
        const key = { accountId: shop.accountId, livemode: false, name: 'Second' };
        const second = await createApiKey(app.db, key);
        const revoked = client(app, second.secret);
        if (seen) assertReplay(await keyed(revoked.post(SESSIONS, minimal)), first);
        await revokeApiKey(app.db, second.key.id);
        assertUnauthenticated(await keyed(revoked.post(SESSIONS, minimal)), 'api_key_revoked');
        assertReplay(await shop.create(), first);
      });
    }

    const others: [what: string, send: (revoked: Client, id: string) => Test][] = [
      ['expire', (revoked, id) => revoked.post(`${SESSIONS}/${id}/expire`)],
      ['webhook create', (revoked) => revoked.post(ENDPOINTS, hooks)],
    ];
    for (const [what, send] of others) {
      it(`on ${what}`, async () => {
        const { id } = await buildSession(app.db, shop.accountId);
        const first = await keyed(send(shop.test, id));
        assertReplay(await keyed(send(shop.test, id)), first);
        const key = await ApiKey.query(app.db).findOne({ accountId: shop.accountId, livemode: false });
        await revokeApiKey(app.db, key?.id ?? '');
        assertUnauthenticated(await keyed(send(shop.test, id)), 'api_key_revoked');
      });
    }
  });

  it('is ignored by GET, HEAD and DELETE, even when it is too long', async () => {
    const first = await shop.create();
    const endpoint = (await shop.test.post(ENDPOINTS, hooks)).body;
    for (const key of ['order-7', 'k'.repeat(300)]) {
      const got = await keyed(shop.test.get(`${SESSIONS}/${first.body.id}`), key);
      assert.equal(got.status, 200);
      assert.equal(got.get('Idempotent-Replayed'), undefined);
      assert.equal((await keyed(shop.test.get(SESSIONS), key)).status, 200);
      assert.equal((await keyed(shop.test.send('head', SESSIONS), key)).status, 200);
    }
    const deleted = await keyed(shop.test.delete(`${ENDPOINTS}/${endpoint.id}`), 'order-7');
    assert.equal(deleted.status, 200);
    assertMissing(await keyed(shop.test.delete(`${ENDPOINTS}/${endpoint.id}`), 'order-7'));
    assertReplay(await shop.create(), first);
    assert.equal((await shop.records()).length, 1);
  });
});
