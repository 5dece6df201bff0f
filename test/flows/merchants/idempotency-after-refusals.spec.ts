import assert from 'node:assert/strict';
import { buildSession, EVM_WALLET } from '../../../lab/world/shop/factories.js';
import { updateAccount } from '../../../shared/accounts/accounts.js';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { newId, sessionPrefix } from '../../../shared/values/ids.js';
import {
  assertInvalid,
  assertMissing,
  assertRefusal,
  assertUnauthenticated,
  client,
} from '../../support/api-client.js';
import { openTestApp } from '../../support/app.js';
import { forAllTests, forEachTest } from '../../support/hooks.js';
import { assertReplay, buildKeyedShop, hooks, keyed, PRIVATE } from '../../support/keyed-shop.js';
import { coffee, ENDPOINTS, minimal, SESSIONS } from '../../support/orders.js';

describe('Idempotency-Key', () => {
  const app = forAllTests(() => openTestApp(PRIVATE));
  const shop = forEachTest(() => buildKeyedShop(app));

  describe('stores nothing and may be used again after', () => {
    const nothingKept = async (): Promise<void> => assert.deepEqual(await shop.records(), []);

    it('a 400, with a corrected body', async () => {
      assertInvalid(await shop.create({}), 'parameter_missing', 'line_items');
      const total = { ...coffee, quantity: 999_999 };
      const tooMuch = {
        line_items: Array.from({ length: 100 }, () => ({
          ...total,
          price_data: { ...coffee.price_data, unit_amount: 99_999_999 },
        })),
      };
      assertInvalid(await shop.create(tooMuch), 'amount_too_large', 'line_items');
      assertInvalid(await keyed(shop.test.post(SESSIONS, '{')), 'malformed_body');
      assertInvalid(
        await shop.create({ ...minimal, expires_at: 1 }),
        'parameter_invalid_integer',
        'expires_at',
      );
      await nothingKept();
      assert.deepEqual(await shop.sessions(), []);
      const first = await shop.create();
      assertReplay(await shop.create(), first);
      assert.equal((await shop.sessions()).length, 1);
    });

    it('payout_wallet_missing, with the same body, once there is a wallet', async () => {
      await updateAccount(app.db, shop.accountId, { evmWallet: null, solanaWallet: null });
      assertInvalid(await shop.create(), 'payout_wallet_missing');
      await nothingKept();
      await updateAccount(app.db, shop.accountId, { evmWallet: EVM_WALLET });
      const first = await shop.create();
      assertReplay(await shop.create(), first);
    });

    it('checkout_session_not_open, once the session is open again', async () => {
      const session = await buildSession(app.db, shop.accountId, {
        status: 'processing',
        paymentId: 'pay_1',
      });
      const path = `${SESSIONS}/${session.id}/expire`;
      assertInvalid(await keyed(shop.test.post(path)), 'checkout_session_not_open', 'id');
      await nothingKept();
      await CheckoutSession.query(app.db)
        .patch({ status: 'open', paymentId: null })
        .where({ id: session.id });
      const first = await keyed(shop.test.post(path));
      assert.equal(first.body.status, 'expired');
      assertReplay(await keyed(shop.test.post(path)), first);
    });

    it('a 404', async () => {
      assertMissing(await keyed(shop.test.post(`${SESSIONS}/${newId(sessionPrefix(false))}/expire`)));
      await nothingKept();
      await shop.create().expect(200);
    });

    it('a 401', async () => {
      const wrong = client(app, `svc_ck_test_${'x'.repeat(40)}`);
      assertUnauthenticated(await keyed(wrong.post(SESSIONS, minimal)), 'api_key_invalid');
      await nothingKept();
      await shop.create().expect(200);
    });

    it('a 429', async () => {
      const slow = await openTestApp({ RATE_LIMIT_API_PER_SECOND: '1' });
      try {
        const mine = client(slow, shop.testKey);
        const answers = await Promise.all(
          Array.from({ length: 10 }, (_, i) => keyed(mine.post(SESSIONS, minimal), `slow-${i}`)),
        );
        const refused = answers.findIndex(({ status }) => status === 429);
        assert.notEqual(refused, -1);
        const kept = await shop.records();
        assert.equal(kept.length, answers.filter(({ status }) => status === 200).length);
        const first = await shop.create(minimal, `slow-${refused}`);
        assertReplay(await shop.create(minimal, `slow-${refused}`), first);
      } finally {
        await slow.close();
      }
    });

    it('a 500 that changed nothing', async () => {
      const { db } = app;
      await db.raw(`
        CREATE FUNCTION refuse_commit() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`);
      try {
        for (const table of ['payables', 'events', 'webhook_endpoints']) {
          await db.raw(`
            CREATE CONSTRAINT TRIGGER refuse_commit AFTER INSERT ON ${table}
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_commit()`);
        }
        assertRefusal(await shop.create(), 500, 'internal_error');
        assertRefusal(await keyed(shop.test.post(ENDPOINTS, hooks), 'hooks'), 500, 'internal_error');
        await nothingKept();
      } finally {
        await db.raw('DROP FUNCTION refuse_commit CASCADE');
      }
      assert.deepEqual(await shop.sessions(), []);
      const first = await shop.create();
      assertReplay(await shop.create(), first);
      const endpoint = await keyed(shop.test.post(ENDPOINTS, hooks), 'hooks');
      assertReplay(await keyed(shop.test.post(ENDPOINTS, hooks), 'hooks'), endpoint);
      assert.equal((await shop.sessions()).length, 1);
    });
  });
});
