import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { buildPaidSession } from '../../../lab/world/shop/factories.js';
import { Payable } from '../../../shared/payables/model.js';
import type { Payment } from '../../../shared/payments/model.js';
import { expireOverdueSessions } from '../../../shared/settlement/expire-overdue.js';
import { newId } from '../../../shared/values/ids.js';
import { client } from '../../support/api-client.js';
import { forAllTests } from '../../support/hooks.js';
import { EVENT_DEPS, openMoneyFlow } from '../../support/money-flow.js';
import { REFUNDS } from '../../support/orders.js';

const PARTS = 9;

describe('simultaneous requests about refunds of one payment', () => {
  const flow = forAllTests(() => openMoneyFlow('refund_races', { kind: 'refund' }));
  const api = forAllTests(() => client(flow.app, flow.merchant.testKey));
  let payment: Payment;
  beforeEach(async () => {
    flow.startNewBooks();
    payment = (await buildPaidSession(flow.db, flow.merchant.accountId)).payment;
  });

  const make = async (amount: number): Promise<string> =>
    (await api.post(REFUNDS, { payment: payment.id, amount }).expect(200)).body.id;
  const rows = () => Payable.query(flow.db).where({ refundedPaymentId: payment.id }).orderBy('id');

  it('pay, cancel or expire each refund, and never refund more than was paid', async () => {
    const ids: string[] = [];
    for (let part = 0; part < PARTS; part += 1) ids.push(await make(50));
    const signed = await Promise.all(ids.map((id) => flow.sign(id)));
    const answers = await Promise.all(
      signed.map(async (own, index) => {
        const id = ids[index] ?? '';
        const paying = flow.visit(id, { 'PAYMENT-SIGNATURE': own.header }).then(({ status }) => status);
        // Cancels or expires half of the refunds before the claim, the others at about the same time.
        if (index % 2 === 0) await eventually(() => assert.equal(flow.calls(own).verify, 1));
        const ending = index % 3 === 0 ? expireOverdue(id) : api.post(`${REFUNDS}/${id}/cancel`);
        const making = api.post(REFUNDS, { payment: payment.id, amount: 50 });
        const [paid, ended] = await Promise.all([paying, ending, making]);
        return { paid, ended: ended?.status };
      }),
    );
    await eventually(async () =>
      assert.deepEqual(
        (await rows()).filter(({ status }) => status === 'processing'),
        [],
      ),
    );
    for (const [index, id] of ids.entries()) {
      const { status } = await flow.session(id);
      const { paid, ended = 0 } = answers[index] ?? {};
      assert.equal(paid, status === 'complete' ? 200 : 410, `${id} is ${status}`);
      if (ended !== 0) assert.equal(ended, status === 'complete' ? 400 : 200, `${id} is ${status}`);
    }
    const left = (await rows()).filter(({ status }) => status !== 'expired');
    assert.ok(left.length * 50 <= payment.amountCents);
    await flow.assertBooks();
  });

  /** Moves the refund's end into the past and runs the sweep's statement. */
  async function expireOverdue(id: string): Promise<void> {
    await Payable.query(flow.db)
      .patch({ expiresAt: new Date(0) })
      .where({ id, status: 'open' });
    await expireOverdueSessions(flow.db, 10, EVENT_DEPS);
  }

  it('create one refund of the rest for each Idempotency-Key, and cancel it once', async () => {
    const key = newId('req_');
    const send = (path: string, body: object) =>
      Promise.all(
        Array.from({ length: 8 }, () =>
          api
            .post(path, body)
            .set('Idempotency-Key', path + key)
            .expect(200),
        ),
      );
    const texts = new Set((await send(REFUNDS, { payment: payment.id })).map(({ text }) => text));
    const [made, ...others] = [...texts].map((text) => JSON.parse(text));
    assert.deepEqual([made.amount, others], [payment.amountCents, []]);
    await send(`${REFUNDS}/${made.id}/cancel`, {});
    assert.deepEqual(
      (await rows()).map(({ id, status }) => [id, status]),
      [[made.id, 'expired']],
    );
    const { data } = (await api.get(`/v1/events?checkout_session=${made.id}`)).body;
    assert.deepEqual(
      data.map(({ type }: { type: string }) => type),
      ['refund.updated', 'refund.created'],
    );
  });
});
