import assert from 'node:assert/strict';
import { buildMerchant, EVM_WALLET } from '../../lab/world/shop/factories.js';
import { updateAccount } from '../../shared/accounts/accounts.js';
import { IdempotencyRecord } from '../../shared/accounts/model.js';
import { assertInvalid, client } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';

const SESSIONS = '/v1/checkout/sessions';
const order = { line_items: [{ price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } }] };

describe('refused requests', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildMerchant(app.db));
  const api = forAllTests(() => client(app, shop.testKey));

  describe('store nothing', () => {
    it('so that a refused body can be fixed under the same Idempotency-Key', async () => {
      const send = (body: object) => api.post(SESSIONS, body).set('Idempotency-Key', 'mended');
      assertInvalid(await send({}), 'parameter_missing', 'line_items');
      assertInvalid(await send({ ...order, expires_at: 1 }), 'parameter_invalid_integer', 'expires_at');
      assert.equal(await IdempotencyRecord.query(app.db).where({ key: 'mended' }).resultSize(), 0);
      const res = await send(order).expect(200);
      assert.equal(res.get('Idempotent-Replayed'), undefined);
    });

    it('so that a retry works once the account is fixed', async () => {
      const poor = await buildMerchant(app.db, { evmWallet: null, solanaWallet: null });
      const send = () => client(app, poor.testKey).post(SESSIONS, order).set('Idempotency-Key', 'wallet');
      assertInvalid(await send(), 'payout_wallet_missing');
      await updateAccount(app.db, poor.accountId, { evmWallet: EVM_WALLET });
      await send().expect(200);
    });
  });

  it('have a unique Request-Id', async () => {
    const ids = new Set<string | undefined>();
    for (let i = 0; i < 5; i++) ids.add((await api.get('/v1/customers')).get('Request-Id'));
    assert.equal(ids.size, 5);
  });

  it('never contain the key of the request', async () => {
    const secret = shop.testKey.slice('svc_ck_test_'.length);
    for (const res of [
      await api.get('/v1/customers'),
      await api.post(SESSIONS, {}),
      await api.get(`${SESSIONS}/x`),
    ]) {
      assert.ok(!res.text.includes(secret));
    }
  });
});
