import assert from 'node:assert/strict';
import type { Response } from 'supertest';
import {
  buildMerchant,
  buildPaidSession,
  buildRefund,
  buildSession,
  EVM_WALLET,
} from '../../lab/world/shop/factories.js';
import { Payable } from '../../shared/payables/model.js';
import type { Payment } from '../../shared/payments/model.js';
import { nowMs } from '../../shared/process/clock.js';
import { newId } from '../../shared/values/ids.js';
import { assertInvalid, client, untilTaken } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { REFUNDS } from '../support/orders.js';
import { idsOf } from '../support/pages.js';

const PAYER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const DAY = 24 * 3600;

describe('refunds', () => {
  const app = forAllTests(openTestApp);
  const shop = forAllTests(() => buildMerchant(app.db));
  const api = forAllTests(() => client(app, shop.testKey));

  const paid = async (overrides: Partial<Payment> = {}): Promise<Payment> =>
    (await buildPaidSession(app.db, shop.accountId, overrides)).payment;
  const seconds = (): number => Math.floor(nowMs() / 1000);
  const create = (body: object): Promise<Response> => api.post(REFUNDS, body).expect(200);

  describe('are created', () => {
    it('for the rest of the payment and 7 days by default', async () => {
      const payment = await paid();
      const from = seconds();
      const { body } = await create({ payment: payment.id });
      const { id, created, expires_at, ...others } = body;
      assert.match(id, /^re_[0-9A-Za-z]{28}$/);
      assert.ok(created >= from && created <= seconds(), `${created} of ${from} to ${seconds()}`);
      assert.ok(Math.abs(expires_at - created - 7 * DAY) <= 1, `${expires_at} of ${created}`);
      assert.deepEqual(others, {
        object: 'refund',
        amount: 450,
        currency: 'usd',
        payment: payment.id,
        checkout_session: payment.payableId,
        status: 'requires_action',
        reason: null,
        metadata: {},
        livemode: false,
        token: 'USDC',
        token_amount: '4500000',
        token_decimals: 6,
        network: 'eip155:84532',
        network_name: 'Base Sepolia',
        pay_to: PAYER,
        url: `${app.config.baseUrl}/c/${id}`,
        transaction: null,
        transaction_url: null,
        settled_at: null,
        failure_code: null,
      });
      assert.deepEqual((await api.get(`${REFUNDS}/${id}`).expect(200)).body, body);
    });

    it('with every field, also from a form', async () => {
      const { id: payment } = await paid();
      const said = {
        amount: 120,
        reason: 'requested_by_customer',
        metadata: { ticket: 'T-1', note: 'broken' },
        expires_at: seconds() + 30 * DAY,
      };
      const { body } = await api.form(REFUNDS, { charge: payment, ...said }).expect(200);
      const { amount, reason, metadata, expires_at } = body;
      assert.deepEqual({ amount, reason, metadata, expires_at }, said);
      assert.deepEqual([body.token_amount, body.payment], ['1200000', payment]);
    });

    it('of a surplus payment in full', async () => {
      const { payment } = await buildPaidSession(app.db, shop.accountId);
      const surplus = await paid({ payableId: payment.payableId, surplus: true });
      assert.equal((await create({ payment_intent: surplus.id })).body.amount, 450);
      assert.equal((await create({ payment_intent: payment.id })).body.amount, 450);
    });

    it('in parts, never more than was paid; a canceled part can be refunded again', async () => {
      const { id: payment } = await paid();
      const { body: first } = await create({ payment, amount: 300 });
      const over = await api.post(REFUNDS, { payment, amount: 151 });
      assertInvalid(over, 'refund_amount_too_large', 'amount');
      assert.match(over.body.error.message, /\b150 cents\b/);
      assert.equal((await create({ payment })).body.amount, 150);
      assertInvalid(await api.post(REFUNDS, { payment }), 'refund_amount_too_large', 'amount');
      await api.post(`${REFUNDS}/${first.id}/cancel`).expect(200);
      assert.equal((await create({ payment })).body.amount, 300);
    });

    it('to the wallet that signed, whatever payer the facilitator reported', async () => {
      const authorization = {
        from: PAYER.toLowerCase(),
        to: EVM_WALLET,
        value: '4500000',
        validAfter: '0',
        validBefore: '1800000000',
        nonce: `0x${'7'.repeat(64)}`,
      };
      const payload = { signature: '0x5e', authorization };
      for (const payer of [EVM_WALLET, '0xNOBODY', null]) {
        const { id: payment } = await paid({ payload, payer });
        assert.equal((await create({ payment })).body.pay_to, PAYER);
      }
    });

    it('by a hundred concurrent requests, exactly up to the paid amount', async () => {
      const { id: payment } = await paid();
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => untilTaken(() => api.post(REFUNDS, { payment, amount: 7 }))),
      );
      const made = answers.filter(({ status }) => status === 200);
      assert.equal(made.length, Math.floor(450 / 7));
      for (const res of answers)
        if (res.status !== 200) assertInvalid(res, 'refund_amount_too_large', 'amount');
      const rows = await Payable.query(app.db).where({ refundedPaymentId: payment });
      assert.equal(rows.length, made.length);
    });

    it('once for each Idempotency-Key, however often it is sent concurrently', async () => {
      const { id: payment } = await paid();
      const send = () =>
        api.post(REFUNDS, { payment, amount: 100 }).set('Idempotency-Key', 'once').expect(200);
      const texts = new Set((await Promise.all([send(), send(), send()])).map(({ text }) => text));
      assert.equal(texts.size, 1);
      const replay = await send();
      assert.equal(replay.get('Idempotent-Replayed'), 'true');
      assert.equal((await api.get(`${REFUNDS}?payment=${payment}`)).body.data.length, 1);
    });
  });

  describe('are refused', () => {
    const refused: Record<string, [body: (id: string) => object, code: string, param: string]> = {
      'without a payment': [() => ({}), 'parameter_missing', 'payment'],
      'with two parameters for the payment': [
        (id) => ({ payment: id, charge: id }),
        'parameters_exclusive',
        'charge',
      ],
      'of an amount of 0': [(id) => ({ payment: id, amount: 0 }), 'parameter_invalid_integer', 'amount'],
      'of a negative amount': [(id) => ({ payment: id, amount: -1 }), 'parameter_invalid_integer', 'amount'],
      'of half a cent': [(id) => ({ payment: id, amount: 0.5 }), 'parameter_invalid_integer', 'amount'],
      'with an unknown reason': [
        (id) => ({ payment: id, reason: 'bored' }),
        'parameter_invalid_enum',
        'reason',
      ],
      'with an expiry too soon': [
        (id) => ({ payment: id, expires_at: seconds() + 29 * 60 }),
        'parameter_invalid_integer',
        'expires_at',
      ],
      'with an expiry too late': [
        (id) => ({ payment: id, expires_at: seconds() + 30 * DAY + 60 }),
        'parameter_invalid_integer',
        'expires_at',
      ],
      'with metadata that is too long': [
        (id) => ({ payment: id, metadata: { note: 'x'.repeat(501) } }),
        'parameter_invalid_string',
        'metadata[note]',
      ],
      'with an unknown parameter': [
        (id) => ({ payment: id, refund_application_fee: true }),
        'parameter_unknown',
        'refund_application_fee',
      ],
    };
    for (const [name, [body, code, param]] of Object.entries(refused)) {
      it(name, async () => {
        const { id } = await paid();
        assertInvalid(await api.post(REFUNDS, body(id)), code, param);
        assert.deepEqual((await api.get(`${REFUNDS}?payment=${id}`)).body.data, []);
      });
    }

    for (const payer of ['', 'nobody', '0x0000000000000000000000000000000000000000']) {
      it(`of a payment whose payer is '${payer}', which is not a wallet`, async () => {
        const { id } = await paid({ payer });
        assertInvalid(await api.post(REFUNDS, { payment: id }), 'payer_unknown', 'payment');
      });
    }

    it('of a payment that does not exist, or that paid a refund', async () => {
      for (const charge of [newId('pay_'), newId('cs_test_'), 'none of ours']) {
        const { status, body } = await api.post(REFUNDS, { charge });
        assert.deepEqual([status, body.error.code, body.error.param], [404, 'resource_missing', 'charge']);
      }
      const refund = await buildRefund(app.db, shop.accountId);
      const { id: payment } = await paid({ payableId: refund.id });
      const { status, body } = await api.post(REFUNDS, { payment });
      assert.deepEqual([status, body.error.code, body.error.param], [404, 'resource_missing', 'payment']);
    });
  });

  describe('are listed', () => {
    const mine = forAllTests(() => buildMerchant(app.db));
    const own = forAllTests(() => client(app, mine.testKey));
    let made: Payable[];
    before(async () => {
      made = [];
      for (const status of ['open', 'processing', 'complete', 'expired'] as const)
        made.push(await buildRefund(app.db, mine.accountId, { status }));
      await buildSession(app.db, mine.accountId);
    });
    const ids = async (query: string): Promise<string[]> => {
      const { body } = await own.get(`${REFUNDS}${query}`).expect(200);
      assert.equal(body.url, '/v1/refunds');
      return idsOf(body);
    };

    it('newest first, page by page', async () => {
      const all = made.map(({ id }) => id).reverse();
      assert.deepEqual(await ids(''), all);
      assert.deepEqual(await ids('?limit=1'), all.slice(0, 1));
      assert.deepEqual(await ids(`?starting_after=${all[1]}`), all.slice(2));
      assert.deepEqual(await ids(`?ending_before=${all[2]}`), all.slice(0, 2));
    });

    it('by status', async () => {
      const words = ['requires_action', 'pending', 'succeeded', 'canceled'];
      for (const [index, status] of words.entries())
        assert.deepEqual(await ids(`?status=${status}`), [made[index]?.id]);
      assertInvalid(await own.get(`${REFUNDS}?status=open`), 'parameter_invalid_enum', 'status');
    });

    it('by payment, under each of its parameter names, and by time', async () => {
      const [first] = made;
      for (const name of ['payment', 'payment_intent', 'charge'])
        assert.deepEqual(await ids(`?${name}=${first?.refundedPaymentId}`), [first?.id]);
      assert.deepEqual(await ids(`?payment=${newId('pay_')}`), []);
      assert.equal((await ids(`?created[gte]=${seconds() - 60}`)).length, 4);
      assert.deepEqual(await ids(`?created[gt]=${seconds() + 60}`), []);
      const both = await own.get(`${REFUNDS}?payment=a&charge=b`);
      assertInvalid(both, 'parameters_exclusive', 'charge');
    });

    it('separately: neither refunds nor their payments are listed with sessions and payments', async () => {
      const [first] = made;
      await buildPaidSession(app.db, mine.accountId, { payableId: first?.id ?? '' });
      const sessions = (await own.get('/v1/checkout/sessions?limit=100')).body.data;
      assert.ok(sessions.every(({ id }: { id: string }) => id.startsWith('cs_test_')));
      const payments = (await own.get('/v1/payments?limit=100')).body.data;
      assert.equal(payments.length, 4);
      assert.ok(payments.every((one: object) => !('refund' in one)));
      for (const path of ['', '/line_items']) {
        const res = await own.get(`/v1/checkout/sessions/${first?.id}${path}`);
        assert.deepEqual([res.status, res.body.error.code], [404, 'resource_missing']);
      }
      assert.equal((await own.post(`/v1/checkout/sessions/${first?.id}/expire`)).status, 404);
      const cursor = await own.get(`/v1/checkout/sessions?starting_after=${first?.id}`);
      assert.deepEqual([cursor.status, cursor.body.error.param], [404, 'starting_after']);
      const [session] = sessions;
      assert.equal((await own.get(`${REFUNDS}/${session.id}`)).status, 404);
      assert.equal((await own.post(`${REFUNDS}/${session.id}/cancel`)).status, 404);
    });
  });

  describe('are canceled', () => {
    it('while unpaid, once', async () => {
      const { id } = await buildRefund(app.db, shop.accountId);
      const { body } = await api.post(`${REFUNDS}/${id}/cancel`).expect(200);
      assert.deepEqual([body.id, body.status, body.url], [id, 'canceled', null]);
      assert.deepEqual((await api.get(`${REFUNDS}/${id}`)).body, body);
      assertInvalid(await api.post(`${REFUNDS}/${id}/cancel`), 'refund_not_cancelable', 'id');
    });

    for (const [status, word] of [
      ['processing', 'pending'],
      ['complete', 'succeeded'],
    ] as const) {
      it(`not when ${word}`, async () => {
        const { id } = await buildRefund(app.db, shop.accountId, { status });
        const res = await api.post(`${REFUNDS}/${id}/cancel`);
        assertInvalid(res, 'refund_not_cancelable', 'id');
        assert.match(res.body.error.message, new RegExp(word));
      });
    }
  });
});
