import assert from 'node:assert/strict';
import { answers } from '../../../lab/world/facilitator/dial.js';
import { Payable } from '../../../shared/payables/model.js';
import { Payment } from '../../../shared/payments/model.js';
import { nowMs } from '../../../shared/process/clock.js';
import { expireOverdueSessions } from '../../../shared/settlement/expire-overdue.js';
import { assertInvalid, client } from '../../support/api-client.js';
import { forAllTests } from '../../support/hooks.js';
import { EVENT_DEPS, openMoneyFlow } from '../../support/money-flow.js';
import { assertWholeReport } from '../../support/report-sums.js';

const DENIED = answers(200, { success: false, errorReason: 'kyt_risk_detected', transaction: '' });

describe('a late payment of a canceled refund', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('refund_surplus', {
      worker: false,
      kind: 'refund',
      environment: { SETTLE_WAIT_MS: '0' },
    }),
  );
  const manualWorker = forAllTests(() => flow.openManualWorker());
  const api = forAllTests(() => client(flow.app, flow.merchant.testKey));
  beforeEach(() => void manualWorker.log.splice(0));
  afterEach(() => flow.facilitator.settle.honest());

  /** The money has moved, the facilitator has denied it, and then the refund has expired. */
  async function cancelPaid(): Promise<{ refund: Payable; late: Payment }> {
    const refund = await flow.buildSession();
    flow.facilitator.settle.next({ ...DENIED, works: true });
    assert.equal((await flow.pay(refund.id)).status, 202);
    const { id } = await flow.onlyPayment(refund.id);
    await manualWorker.doNext(id);
    const { body } = await api.get(`/v1/refunds/${refund.id}`);
    assert.deepEqual([body.status, body.failure_code], ['requires_action', 'kyt_risk_detected']);
    await Payable.query(flow.db)
      .patch({ expiresAt: new Date(nowMs() - 1000) })
      .where({ id: refund.id });
    await expireOverdueSessions(flow.db, 10, EVENT_DEPS);
    return { refund, late: await flow.onlyPayment(refund.id) };
  }

  async function findLate({ id }: Payment): Promise<void> {
    await Payment.query(flow.db)
      .patch({ dueAt: new Date(nowMs() - 1) })
      .where({ id });
    await manualWorker.doNext(id);
  }

  const logged = (): unknown[] => manualWorker.log.map(({ level, event }) => `${level} ${event}`);

  it('makes the refund succeed and count again', async () => {
    const { refund, late } = await cancelPaid();
    const { body: canceled } = await api.get(`/v1/refunds/${refund.id}`);
    assert.deepEqual([canceled.status, canceled.url], ['canceled', null]);
    await findLate(late);
    const { body } = await api.get(`/v1/refunds/${refund.id}`);
    const { transaction } = await flow.onlyPayment(refund.id);
    assert.deepEqual([body.status, body.transaction, body.failure_code], ['succeeded', transaction, null]);
    assert.deepEqual(logged(), ['error payment.after_expiry']);
    const more = await api.post('/v1/refunds', { payment: refund.refundedPaymentId, amount: 1 });
    assertInvalid(more, 'refund_amount_too_large', 'amount');
  });

  it('may raise the refunds above the amount paid, with an error line in the log', async () => {
    const { refund, late } = await cancelPaid();
    const payment = refund.refundedPaymentId;
    const { body: another } = await api.post('/v1/refunds', { payment, amount: 1 }).expect(200);
    await findLate(late);
    assert.deepEqual(logged(), ['error payment.after_expiry', 'error refund.surplus']);
    const { paid_cents, refunded_cents, ...named } = manualWorker.log.at(-1) ?? {};
    assert.deepEqual([paid_cents, refunded_cents], [450, 451]);
    assert.deepEqual([named.refund, named.payment], [refund.id, payment]);
    await api.post(`/v1/refunds/${another.id}/cancel`).expect(200);
    await assertWholeReport(api, flow.db, flow.merchant.accountId);
  });

  it('is told on the page of a refund that was paid again meanwhile, and by its id', async () => {
    const refund = await flow.buildSession();
    flow.facilitator.settle.next({ ...DENIED, works: true });
    assert.equal((await flow.pay(refund.id)).status, 202);
    const denied = await flow.onlyPayment(refund.id);
    await manualWorker.doNext(denied.id);
    assert.equal((await flow.pay(refund.id)).status, 202);
    const again = await flow.payment(refund.id);
    await manualWorker.doNext(again.id);
    await findLate(denied);
    assert.deepEqual(logged(), ['error payment.surplus']);
    const { body: held } = await api.get(`/v1/refunds/${refund.id}`);
    assert.deepEqual(
      [held.status, held.transaction],
      ['succeeded', (await flow.payment(refund.id)).transaction],
    );
    const { text: page } = await flow.visit(refund.id, { Accept: 'text/html' });
    assert.match(page, new RegExp(`Ask the buyer for it[^]*${denied.id}`));
    const { body: other } = await api.get(`/v1/payments/${denied.id}`);
    assert.deepEqual([other.status, other.refund], ['succeeded', refund.id]);
    await assertWholeReport(api, flow.db, flow.merchant.accountId);
  });

  it('is told as an excess over other refunds when the payment itself was archived', async () => {
    const { refund, late } = await cancelPaid();
    const payment = refund.refundedPaymentId;
    await api.post('/v1/refunds', { payment }).expect(200);
    await flow.db('payments').where({ id: payment }).delete();
    await findLate(late);
    assert.deepEqual(logged(), ['error payment.after_expiry', 'error refund.surplus']);
    const { paid_cents, refunded_cents } = manualWorker.log.at(-1) ?? {};
    assert.deepEqual([paid_cents, refunded_cents], [null, 900]);
  });
});
