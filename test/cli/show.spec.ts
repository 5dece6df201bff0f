import assert from 'node:assert/strict';
import {
  buildPaidSession,
  buildRefund,
  buildUndecidedPayment,
  HOOK_URL,
} from '../../lab/world/shop/factories.js';
import type { Payment } from '../../shared/payments/model.js';
import { client } from '../support/api-client.js';
import { BUYER } from '../support/checkout.js';
import { assertRefused, runJson, showJson } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import { forAllTests } from '../support/hooks.js';
import { openWebhookFlow } from '../support/webhook-flow.js';

const EMAIL = 'buyer@shop.example';
const REFERENCE = 'order 17/a';

describe('merchants show', () => {
  const flow = forAllTests(() => openWebhookFlow('shown_objects'));
  let session: string;
  let payment: Payment;
  let endpoint: string;
  before(async () => {
    const hook = await flow.addEndpoint();
    endpoint = hook.id;
    const built = await flow.buildSession({ clientReferenceId: REFERENCE, customerEmail: EMAIL });
    session = built.id;
    await flow.pay(session);
    await flow.untilSucceeded(endpoint, 1);
    payment = await flow.payment(session);
  });
  useCliDatabase(() => flow.databaseUrl);

  it('answers with a session, its account, payments, events and deliveries', async () => {
    const shown = await showJson(session);
    assert.deepEqual([shown.id, shown.object], [session, 'checkout.session']);
    assert.equal(shown.account.id, flow.merchant.accountId);
    assert.deepEqual(
      shown.payments.map(({ id, status }) => [id, status]),
      [[payment.id, 'succeeded']],
    );
    assert.deepEqual(
      shown.events.map(({ type, deliveries }) => [
        type,
        deliveries.map(({ status, webhook_endpoint: to }) => [status, to]),
      ]),
      [['checkout.session.completed', [['succeeded', endpoint]]]],
    );
    // Neither the buyer's signature nor a secret is shown.
    assert.doesNotMatch(JSON.stringify(shown), /signature|whsec_|svc_ck_|payload/);
  });

  it('answers with whatever an id names', async () => {
    const refund = await buildRefund(flow.db, flow.merchant.accountId, { refundedPaymentId: payment.id });
    const [event] = (await showJson(session)).events;
    const delivery = event?.deliveries[0]?.id ?? assert.fail('no delivery');
    const { keys } = await runJson('show', flow.merchant.accountId);
    const key = keys[0]?.id ?? assert.fail('no key');
    for (const [id, object] of [
      [refund.id, 'refund'],
      [payment.id, 'payment'],
      [event?.id ?? '', 'event'],
      [endpoint, 'webhook_endpoint'],
      [delivery, 'webhook_delivery'],
      [key, 'api_key'],
    ] as const) {
      const shown = await showJson(id);
      assert.deepEqual([shown.id, shown.object, shown.account.id], [id, object, flow.merchant.accountId]);
    }
    assert.deepEqual(
      (await showJson(payment.id)).refunds.map(({ id }) => id),
      [refund.id],
    );
    assert.deepEqual(
      (await showJson(endpoint)).deliveries.map(({ id }) => id),
      [delivery],
    );
    assert.equal((await showJson(event?.id ?? '')).payments[0]?.id, payment.id);
    assert.equal((await showJson(refund.id)).events.length, 0);
  });

  it('shows an event with all fields of its deliveries, also below what it is about', async () => {
    const { body: list } = await flow.api.get('/v1/events').query({ checkout_session: session }).expect(200);
    const [delivered] = list.data;
    const { data: _data, ...head } = delivered;
    const { account: _account, payments: _payments, deliveries, ...shown } = await showJson(head.id);
    assert.deepEqual(shown, delivered);
    for (const id of [session, payment.id])
      assert.deepEqual((await showJson(id)).events, [{ ...head, deliveries }]);
  });

  it('shows the one object that a reference, an email, a transaction or a wallet names as by its id', async () => {
    for (const text of [REFERENCE, EMAIL])
      assert.deepEqual(await showJson(text), await showJson(session), text);
    const transaction = payment.transaction ?? assert.fail('not settled');
    for (const text of [transaction, transaction.toUpperCase().replace('0X', '0x'), BUYER.address]) {
      const { id, events } = await showJson(text);
      assert.deepEqual([id, events.length], [payment.id, 1], text);
    }
    const { payout_wallets: wallets } = await runJson('show', flow.merchant.accountId);
    for (const wallet of [wallets.evm ?? '', (wallets.evm ?? '').toLowerCase(), wallets.solana ?? '']) {
      const { id, keys } = await runJson('show', wallet);
      assert.deepEqual([id, keys.length], [flow.merchant.accountId, 2]);
    }
  });

  it('finds payments in any status, and lists several', async () => {
    const { accountId } = flow.merchant;
    const transaction = `0x${'CD'.repeat(32)}`;
    const payer = `0x${'Ef'.repeat(20)}`;
    const { payment: failed } = await buildUndecidedPayment(flow.db, accountId, { transaction, payer });
    await failed.$query(flow.db).patch({ status: 'failed', stage: null, dueAt: null });
    const { payment: undecided } = await buildUndecidedPayment(flow.db, accountId, { payer });
    const { payment: succeeded } = await buildPaidSession(flow.db, accountId, { payer });
    assert.equal((await showJson(transaction.toLowerCase())).id, failed.id);
    const { payments, checkout_sessions: sessions, accounts } = await showJson(payer);
    assert.deepEqual(
      payments.map(({ id, status }) => [id, status]),
      [
        [succeeded.id, 'succeeded'],
        [undecided.id, 'processing'],
        [failed.id, 'failed'],
      ],
    );
    assert.deepEqual([sessions, accounts], [[], []]);
  });

  it("finds a merchant's own id that looks like one of ours", async () => {
    const { id } = await flow.buildSession({ clientReferenceId: 're_2026_1' });
    assert.equal((await showJson('re_2026_1')).id, id);
  });

  it('shows deleted endpoints and revoked keys', async () => {
    const { body } = await flow.api.post('/v1/webhook_endpoints', { url: HOOK_URL }).expect(200);
    await flow.api.delete(`/v1/webhook_endpoints/${body.id}`).expect(200);
    assert.equal((await showJson(body.id)).id, body.id);
    const key = await runJson('create-key', flow.merchant.accountId, '--mode', 'live');
    await client(flow.app, flow.merchant.liveKey).delete(`/v1/keys/${key.id}`).expect(200);
    assert.equal((await showJson(key.id)).id, key.id);
  });

  it('refuses what names nothing with one line', async () => {
    for (const [id, words] of [
      ['cs_test_none', /No such checkout session: 'cs_test_none'/],
      ['re_none', /No such refund/],
      ['pay_none', /No such payment/],
      ['evt_none', /No such event/],
      ['we_none', /No such webhook endpoint/],
      ['wd_none', /No such webhook delivery/],
      ['key_none', /No such API key/],
      ['acct_none', /No such account/],
      [`0x${'12'.repeat(32)}`, /No such id, transaction, wallet/],
      [`0x${'12'.repeat(20)}`, /No such id, transaction, wallet/],
      ['nobody@shop.example', /No such id, transaction, wallet/],
      ["o'clock; DROP TABLE", /No such id, transaction, wallet/],
    ] as const)
      await assertRefused(words, 'show', id);
  });
});
