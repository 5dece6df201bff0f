import assert from 'node:assert/strict';
import type Stripe from 'stripe';
import {
  buildPaidSession,
  buildRefund,
  buildSession,
  buildUndecidedPayment,
} from '../../lab/world/shop/factories.js';
import type { Payment } from '../../shared/payments/model.js';
import { createdAt } from '../../shared/values/ids.js';
import { askCsv, assertInvalid } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { connectAgent } from '../support/mcp.js';
import { PAYMENTS, SESSIONS } from '../support/orders.js';
import { idsOf, type Page, readPage } from '../support/pages.js';
import { buildShop } from '../support/shop.js';
import { sdk } from '../support/stripe-sdk.js';

const SOLANA = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const SOLANA_PAYER = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g';
const SOLANA_TRANSACTION =
  '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW';

describe('exact filters', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildShop(app));

  describe('of sessions', () => {
    /** Newest first. */
    const own: string[] = [];
    let paid: string;
    before(async () => {
      const other = await buildShop(app);
      await buildSession(app.db, other.accountId, {
        clientReferenceId: 'order-1',
        customerEmail: 'a@b.example',
      });
      const order = { clientReferenceId: 'order-1', customerEmail: 'Ada@shop.example' };
      for (let i = 0; i < 3; i++) {
        own.unshift((await buildSession(app.db, shop.accountId, order)).id);
        await buildSession(app.db, shop.accountId, { clientReferenceId: 'order-10' });
        await buildSession(app.db, shop.accountId, { ...order, livemode: true });
      }
      paid = own[1] ?? '';
      await app.db('payables').where({ id: paid }).update({ status: 'complete' });
    });

    const list = async (query: string): Promise<string[]> =>
      idsOf(await readPage(shop.test, `${SESSIONS}?${query}`));

    it('find those with the same client_reference_id or customer_email, and no others', async () => {
      assert.deepEqual(await list('client_reference_id=order-1'), own);
      assert.deepEqual(await list('customer_email=Ada@shop.example'), own);
      for (const none of [
        'client_reference_id=ORDER-1',
        'client_reference_id=order',
        'customer_email=ada@shop.example',
        'client_reference_id=order-10&customer_email=Ada@shop.example',
      ])
        assert.deepEqual(await list(none), [], none);
    });

    it('combine with status, created, cursors and limits', async () => {
      const filter = 'client_reference_id=order-1&customer_email=Ada@shop.example';
      assert.deepEqual(await list(`${filter}&status=complete`), [paid]);
      assert.deepEqual(await list(`${filter}&created[lt]=1000`), []);
      assert.deepEqual(await list(`${filter}&created[gte]=1000`), own);
      const first = await readPage(shop.test, `${SESSIONS}?${filter}&limit=2`);
      assert.deepEqual([idsOf(first), first.has_more], [own.slice(0, 2), true]);
      assert.deepEqual(await list(`${filter}&starting_after=${own[1]}`), own.slice(2));
      assert.deepEqual(await list(`${filter}&ending_before=${own[2]}&limit=1`), own.slice(1, 2));
    });

    it('are list parameters of the stock Stripe SDK', async () => {
      const stripe = sdk(shop.testKey, app.port);
      // Stripe's own list has no such parameter, and its SDK passes it on.
      const filter = { client_reference_id: 'order-1', limit: 2 } as Stripe.Checkout.SessionListParams;
      const seen = await stripe.checkout.sessions.list(filter).autoPagingToArray({ limit: 100 });
      assert.deepEqual(
        seen.map(({ id }) => id),
        own,
      );
    });

    it('are arguments of the MCP tool', async () => {
      const agent = await connectAgent(app.port, shop.testKey);
      const { body } = await agent.call('list_checkout_sessions', { customer_email: 'Ada@shop.example' });
      assert.deepEqual(idsOf(body), own);
      await agent.close();
    });

    it('refuse what cannot be one', async () => {
      const refusals = [
        [`client_reference_id=${'x'.repeat(201)}`, 'parameter_invalid_string', 'client_reference_id'],
        ['client_reference_id=%00', 'parameter_invalid_string', 'client_reference_id'],
        ['client_reference_id[a]=b', 'parameter_invalid', 'client_reference_id'],
        ['customer_email=ada', 'email_invalid', 'customer_email'],
        [`customer_email=${'x'.repeat(250)}@a.example`, 'parameter_invalid_string', 'customer_email'],
      ] as const;
      for (const [query, code, param] of refusals)
        assertInvalid(await shop.test.get(`${SESSIONS}?${query}`), code, param);
      assert.equal((await list('client_reference_id=&limit=100')).length, 6);
    });
  });

  describe('of payments', () => {
    let base: Payment;
    let onSolana: Payment;
    before(async () => {
      const other = await buildShop(app);
      const payer = `0x${'Ab'.repeat(20)}`;
      const transaction = `0x${'Cd'.repeat(32)}`;
      await buildPaidSession(app.db, other.accountId, { payer, transaction });
      await buildPaidSession(app.db, shop.accountId, { payer, transaction, livemode: true });
      ({ payment: base } = await buildPaidSession(app.db, shop.accountId, { payer, transaction }));
      const solana = {
        network: SOLANA,
        token: 'USDG',
        payer: SOLANA_PAYER,
        transaction: SOLANA_TRANSACTION,
      } as const;
      ({ payment: onSolana } = await buildPaidSession(app.db, shop.accountId, solana));
      await buildPaidSession(app.db, shop.accountId, { payer, transaction, status: 'failed' });
      await buildRefund(app.db, shop.accountId);
    });

    const list = async (query: string): Promise<string[]> =>
      idsOf(await readPage(shop.test, `${PAYMENTS}?${query}`));

    it('find the hex of wallets and transactions in any case', async () => {
      const { payer, transaction, id } = base;
      for (const spell of ['toLowerCase', 'toString', 'toUpperCase'] as const) {
        assert.deepEqual(await list(`payer=0x${payer?.slice(2)[spell]()}`), [id]);
        assert.deepEqual(await list(`transaction=0x${transaction?.slice(2)[spell]()}`), [id]);
      }
      assert.deepEqual(await list(`payer=0X${payer?.slice(2)}`), [id]);
      assert.deepEqual(await list(`payer=${payer?.slice(0, -1)}`), []);
    });

    it('find base58 as it is written', async () => {
      const { id } = onSolana;
      assert.deepEqual(await list(`payer=${SOLANA_PAYER}`), [id]);
      assert.deepEqual(await list(`transaction=${SOLANA_TRANSACTION}`), [id]);
      assert.deepEqual(await list(`payer=${SOLANA_PAYER.toLowerCase()}`), []);
      assert.deepEqual(await list(`transaction=${SOLANA_TRANSACTION.toUpperCase()}`), []);
    });

    it('store and find what a facilitator sends at any length', async () => {
      const long = await buildShop(app);
      const payer = 'p'.repeat(9000);
      await buildPaidSession(app.db, long.accountId, { payer });
      assert.equal((await readPage(long.test, PAYMENTS)).data.length, 1);
      assert.equal((await readPage(long.test, `${PAYMENTS}?payer=${payer.slice(0, 128)}`)).data.length, 0);
    });

    it('find by token, network and session, together with all others', async () => {
      assert.deepEqual(await list('token=USDG'), [onSolana.id]);
      assert.deepEqual(await list('token=USDT'), []);
      assert.deepEqual(await list(`network=${SOLANA}`), [onSolana.id]);
      assert.equal((await list('network=eip155:84532')).includes(base.id), true);
      assert.deepEqual(await list(`checkout_session=${base.payableId}`), [base.id]);
      assert.deepEqual(await list('checkout_session=cs_test_1'), []);
      const second = Math.floor(createdAt(base.id).getTime() / 1000);
      const all = `payer=${base.payer}&transaction=${base.transaction}&token=USDC&network=eip155:84532&checkout_session=${base.payableId}&created=${second}`;
      assert.deepEqual(await list(all), [base.id]);
      assert.deepEqual(await list(`${all}&starting_after=${base.id}`), []);
      assert.deepEqual(await list(`payer=${base.payer}&ending_before=${base.id}`), []);
      assert.deepEqual(await list(`${all}&token=USDG`.replace('token=USDC&', '')), []);
    });

    it('find by status, and go on after one that has left the list', async () => {
      const busy = await buildShop(app);
      const ids = async (query: string): Promise<string[]> =>
        idsOf(await readPage(busy.test, `${PAYMENTS}?${query}`));
      await buildPaidSession(app.db, busy.accountId);
      const { payment: failed } = await buildUndecidedPayment(app.db, busy.accountId, { status: 'failed' });
      const { payment: older } = await buildUndecidedPayment(app.db, busy.accountId);
      const { payment: newer } = await buildUndecidedPayment(app.db, busy.accountId, { token: 'USDT' });
      await buildRefund(app.db, busy.accountId);
      assert.deepEqual(await ids('status=failed'), [failed.id]);
      assert.deepEqual(await ids('status=processing'), [newer.id, older.id]);
      assert.deepEqual(await ids('status=processing&token=USDC'), [older.id]);
      assert.deepEqual(await ids('status=succeeded'), await ids(''));
      await app.db('payments').where({ id: newer.id }).update({ status: 'succeeded', settledAt: new Date() });
      assert.deepEqual(await ids(`status=processing&starting_after=${newer.id}`), [older.id]);
    });

    it('apply to CSV', async () => {
      const ask = (query: string) => askCsv(app, shop.testKey, `${PAYMENTS}?${query}`);
      const { text } = await ask(`payer=${SOLANA_PAYER}&token=USDG`).expect(200);
      const lines = text.split('\r\n');
      assert.deepEqual([lines.length, lines[1]?.split(',')[0]], [3, onSolana.id]);
      assertInvalid(await ask('token=DAI'), 'parameter_invalid_enum', 'token');
    });

    it('are parameters of rawRequest and arguments of the MCP tool', async () => {
      const stripe = sdk(shop.testKey, app.port);
      const page = await stripe.rawRequest('GET', `${PAYMENTS}?payer=${SOLANA_PAYER}`);
      assert.deepEqual(idsOf(page as unknown as Page), [onSolana.id]);
      const agent = await connectAgent(app.port, shop.testKey);
      const { body } = await agent.call('list_payments', { network: SOLANA, token: 'USDG' });
      assert.deepEqual(idsOf(body), [onSolana.id]);
      await agent.close();
    });

    it('refuse what cannot be one', async () => {
      const refusals = [
        ['status=open', 'parameter_invalid_enum', 'status'],
        ['token=usdc', 'parameter_invalid_enum', 'token'],
        ['network=base', 'parameter_invalid_enum', 'network'],
        [`payer=${'x'.repeat(129)}`, 'parameter_invalid_string', 'payer'],
        [`transaction=${'x'.repeat(129)}`, 'parameter_invalid_string', 'transaction'],
        [`checkout_session=${'x'.repeat(129)}`, 'parameter_invalid_string', 'checkout_session'],
        ['payer=0x1&payer=0x2', 'parameter_invalid', 'payer'],
        ['payer[]=0x1', 'parameter_invalid', 'payer'],
        ['amount=450', 'parameter_unknown', 'amount'],
      ] as const;
      for (const [query, code, param] of refusals)
        assertInvalid(await shop.test.get(`${PAYMENTS}?${query}`), code, param);
    });
  });
});
