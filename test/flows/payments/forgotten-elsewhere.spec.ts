import assert from 'node:assert/strict';
import { Payable } from '../../../shared/payables/model.js';
import { Payment } from '../../../shared/payments/model.js';
import { Event } from '../../../shared/webhooks/model.js';
import { openCheckoutOnChain, type SignedPayment, type Signing } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';

describe('a payload that was used, of which Postgres knows nothing,', () => {
  const checkout = forAllTests(openCheckoutOnChain);

  async function send(id: string, { header }: SignedPayment): Promise<{ status: number; error: string }> {
    const { status, body } = await checkout.visit(id, { 'PAYMENT-SIGNATURE': header });
    return { status, error: String(body.error) };
  }

  async function payAndForget(
    sign: (id: string) => Signing,
  ): Promise<{ id: string; payment: SignedPayment }> {
    const { id } = await checkout.buildSession();
    const payment = await checkout.sign(id, sign(id));
    assert.equal((await send(id, payment)).status, 200);
    await checkout.app.db.transaction(async (trx) => {
      await Payable.query(trx).patch({ status: 'open', paymentId: null }).where({ id });
      await Event.query(trx).delete().where({ payableId: id });
      await Payment.query(trx).delete().where({ payableId: id });
    });
    return { id, payment };
  }

  it('pays the session that its nonce names, and no other to which somebody sends it', async () => {
    const { references } = checkout.app;
    const { id, payment } = await payAndForget((own) => ({ nonce: references.nonceOf(own) }));
    const other = await checkout.buildSession();
    const refused = await send(other.id, payment);
    assert.equal(refused.status, 402);
    assert.match(refused.error, /Do not pay again/);
    assert.equal((await send(id, payment)).status, 200);
    assert.deepEqual(
      [(await checkout.session(other.id)).status, (await checkout.session(id)).status],
      ['open', 'complete'],
    );
  });
});
