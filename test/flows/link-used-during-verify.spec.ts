import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import { openCheckout, type SignedPayment } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';
import { answerOf, receiptOf } from '../support/link-answers.js';

describe('a signature that pays while the facilitator still verifies a second copy of it', () => {
  const checkout = forAllTests(openCheckout);

  /**
   * Sends a copy to `id` and holds its /verify while another copy pays `paid`; the facilitator then finds the
   * nonce used.
   */
  async function payDuringVerify(id: string, payment: SignedPayment, paid: string): Promise<string> {
    const hold = checkout.facilitator.verify.holdNext();
    const headers = { 'PAYMENT-SIGNATURE': payment.header };
    const late = checkout.visit(id, headers).then((res) => {
      const receipt = receiptOf(res) === undefined ? '' : ' with the receipt';
      return answerOf(res) + receipt;
    });
    await eventually(() => assert.equal(checkout.calls(payment).verify, 1));
    assert.equal(answerOf(await checkout.visit(paid, headers)), '200 complete');
    hold.release();
    const answer = await late;
    assert.deepEqual(checkout.calls(payment), { verify: 2, settle: 1 });
    return answer;
  }

  it('the copy on another link gets 409, and that link stays open', async () => {
    const { id } = await checkout.buildSession();
    const { id: other } = await checkout.buildSession();
    const payment = await checkout.sign(id);
    assert.equal(await payDuringVerify(other, payment, id), '409 signature_already_used');
    assert.deepEqual(await checkout.state(other), { session: 'open', payments: [], events: [] });
  });

  it('the copy on the same link gets 409 with the receipt', async () => {
    const { id } = await checkout.buildSession();
    const payment = await checkout.sign(id);
    assert.equal(await payDuringVerify(id, payment, id), '409 session_already_paid with the receipt');
    assert.deepEqual(await checkout.state(id), {
      session: 'complete',
      payments: ['succeeded'],
      events: ['checkout.session.completed'],
    });
  });
});
