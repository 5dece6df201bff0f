import assert from 'node:assert/strict';
import { buildMerchant, buildRefund } from '../../lab/world/shop/factories.js';
import { disableAccount } from '../../shared/accounts/disable.js';
import { client } from '../support/api-client.js';
import { openCheckout } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';
import { answerOf } from '../support/link-answers.js';
import { minimal, SESSIONS } from '../support/orders.js';

describe('the sentence of a refusal', () => {
  const checkout = forAllTests(() => openCheckout({ worker: false }));

  it('tells the wallet or agent of a merchant that the refund was canceled, and a buyer to ask for a new link', async () => {
    const { db } = checkout.app;
    const refund = await buildRefund(db, checkout.merchant.accountId, { status: 'expired' });
    const res = await checkout.visit(refund.id);
    assert.equal(answerOf(res), '410 session_expired');
    assert.equal(
      res.body.error.message,
      'This refund was canceled, or its time is over. Its link can no longer be paid: make a new refund of the payment.',
    );
    const session = await checkout.buildSession({ status: 'expired' });
    const { error } = (await checkout.visit(session.id)).body;
    assert.match(error.message, /^This link has expired\. .*ask the merchant for a new one\.$/);
  });

  it('tells a disabled account that no other key need work, and whom to ask', async () => {
    const { db } = checkout.app;
    const { accountId, testKey } = await buildMerchant(db);
    await disableAccount(db, accountId);
    const { status, body } = await client(checkout.app, testKey).get(SESSIONS);
    assert.deepEqual([status, body.error.code], [401, 'api_key_revoked']);
    assert.match(body.error.message, /with its whole account.*when none works, ask the operator/);
  });

  it('tells an account without a wallet whom to ask, and for which command', async () => {
    const { accountId, testKey } = await buildMerchant(checkout.app.db, {
      evmWallet: null,
      solanaWallet: null,
    });
    const { body } = await client(checkout.app, testKey).post(SESSIONS, minimal);
    assert.equal(body.error.code, 'payout_wallet_missing');
    assert.match(
      body.error.message,
      new RegExp(`Ask the operator .*: merchants update ${accountId} --evm 0x`),
    );
  });
});
