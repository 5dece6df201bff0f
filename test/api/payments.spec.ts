import assert from 'node:assert/strict';
import { buildPaidSession, EVM_WALLET, SOLANA_WALLET } from '../../lab/world/shop/factories.js';
import type { Payment } from '../../shared/payments/model.js';
import { newId } from '../../shared/values/ids.js';
import { assertInvalid, assertMissing } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { PAYMENTS } from '../support/orders.js';
import { buildShop } from '../support/shop.js';

describe('payments', () => {
  const app = forAllTests(openTestApp);

  it('can be retrieved in every status', async () => {
    const shop = await buildShop(app);
    const { payment, session } = await buildPaidSession(app.db, shop.accountId);
    const { body: list } = await shop.test.get(PAYMENTS).expect(200);
    const { body } = await shop.test.get(`${PAYMENTS}/${payment.id}`).expect(200);
    assert.deepEqual(body, list.data[0]);
    assert.equal(body.checkout_session, session.id);
    for (const status of ['processing', 'failed'] as const) {
      const open = { status, transaction: null, settledAt: null };
      const other = await buildPaidSession(app.db, shop.accountId, open);
      const found = await shop.test.get(`${PAYMENTS}/${other.payment.id}`).expect(200);
      assert.equal('failure_code' in found.body, status === 'failed');
      const { status: shownStatus, checkout_session, transaction, transaction_url, settled_at } = found.body;
      assert.deepEqual(
        [shownStatus, checkout_session, transaction, transaction_url, settled_at],
        [status, other.session.id, null, null, null],
      );
      assertMissing(await shop.live.get(`${PAYMENTS}/${other.payment.id}`));
    }
    assert.equal((await shop.test.get(PAYMENTS).expect(200)).body.data.length, 1);
    for (const id of [newId('pay_'), 'pay_1', session.id, '%00', "'"])
      assertMissing(await shop.test.get(`${PAYMENTS}/${id}`));
    assertInvalid(await shop.test.get(`${PAYMENTS}/${payment.id}?expand=x`), 'parameter_unknown', 'expand');
  });

  it('have every field, with the id of their session', async () => {
    const shop = await buildShop(app);
    const settledAt = new Date(1_800_000_000_999);
    const { session, payment } = await buildPaidSession(app.db, shop.accountId, { settledAt });
    const { body } = await shop.test.get(PAYMENTS).expect(200);
    const { created, ...rest } = body.data[0];
    assert.ok(Number.isSafeInteger(created));
    assert.deepEqual(rest, {
      id: payment.id,
      object: 'payment',
      status: 'succeeded',
      amount: 450,
      currency: 'usd',
      token: 'USDC',
      token_amount: '4500000',
      token_decimals: 6,
      network: 'eip155:84532',
      network_name: 'Base Sepolia',
      payer: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      pay_to: EVM_WALLET,
      channel: 'x402',
      transaction: payment.transaction,
      transaction_url: `https://sepolia.basescan.org/tx/${payment.transaction}`,
      settled_at: 1_800_000_000,
      livemode: false,
      checkout_session: session.id,
    });
  });

  it('are the same within the session, except for its id', async () => {
    const shop = await buildShop(app);
    const { session } = await buildPaidSession(app.db, shop.accountId);
    const listed = (await shop.test.get(PAYMENTS).expect(200)).body.data[0];
    const { checkout_session: sessionId, ...payment } = listed;
    assert.equal(sessionId, session.id);
    const retrieved = (await shop.test.get(`/v1/checkout/sessions/${session.id}`).expect(200)).body;
    assert.deepEqual(retrieved.payment, payment);
    const [inList] = (await shop.test.get('/v1/checkout/sessions').expect(200)).body.data;
    assert.deepEqual(inList.payment, payment);
  });

  const variants: [what: string, values: Partial<Payment>, shown: object][] = [
    [
      'from the page, on Solana',
      {
        channel: 'page',
        token: 'USDG',
        network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
        payTo: SOLANA_WALLET,
        transaction: '5'.repeat(88),
      },
      { channel: 'page', token: 'USDG', network_name: 'Solana Devnet', pay_to: SOLANA_WALLET },
    ],
    ['without a known payer', { payer: null }, { payer: null }],
    [
      'without a known transaction and time',
      { transaction: null, settledAt: null },
      { transaction: null, transaction_url: null, settled_at: null },
    ],
    [
      'with more token units than a double can represent',
      { tokenAmount: '90071992547409910000000000000000', tokenDecimals: 18 },
      { token_amount: '90071992547409910000000000000000', token_decimals: 18 },
    ],
  ];
  for (const [what, values, shown] of variants) {
    it(`are presented ${what}`, async () => {
      const shop = await buildShop(app);
      await buildPaidSession(app.db, shop.accountId, values);
      const [payment] = (await shop.test.get(PAYMENTS).expect(200)).body.data;
      assert.deepEqual({ ...payment, ...shown }, payment);
    });
  }

  it('say why they failed, alone and in their list', async () => {
    const shop = await buildShop(app);
    const codes = ['outcome_unknown', 'insufficient_funds', null];
    const ids: string[] = [];
    for (const failureCode of codes) {
      const failed = { status: 'failed', transaction: null, settledAt: null, failureCode } as const;
      ids.push((await buildPaidSession(app.db, shop.accountId, failed)).payment.id);
    }
    const { body } = await shop.test.get(`${PAYMENTS}?status=failed`).expect(200);
    assert.deepEqual(
      body.data.map(({ failure_code }: { failure_code: unknown }) => failure_code),
      codes.toReversed(),
    );
    const [uncertain] = ids;
    const alone = await shop.test.get(`${PAYMENTS}/${uncertain}`).expect(200);
    assert.equal(alone.body.failure_code, 'outcome_unknown');
  });

  it('refuse a cursor that is not a succeeded payment', async () => {
    const shop = await buildShop(app);
    const cursors = {
      'a failed payment': (await buildPaidSession(app.db, shop.accountId, { status: 'failed' })).payment.id,
      'a checkout session': (await buildPaidSession(app.db, shop.accountId)).session.id,
    };
    for (const [what, cursor] of Object.entries(cursors)) {
      for (const param of ['starting_after', 'ending_before']) {
        const res = await shop.test.get(`${PAYMENTS}?${param}=${cursor}`);
        assert.equal(res.status, 404, what);
        assertMissing(res, param);
      }
    }
  });
});
