import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { answers } from '../../../lab/world/facilitator/dial.js';
import { paymentHeader, signSolanaPayment, transferChecked } from '../../../lab/world/shop/agent.js';
import { client } from '../../support/api-client.js';
import { type Checkout, findEntry, openCheckout, SOLANA_DEVNET } from '../../support/checkout.js';
import { answerOf } from '../../support/link-answers.js';

describe('a Solana payment of two wallets', () => {
  let checkout: Checkout;
  before(async () => {
    checkout = await openCheckout();
  });
  after(() => checkout.close());

  /** One wallet pays somebody else, the other pays the merchant, in one transaction. */
  async function pay(payer: string | null): Promise<string> {
    const { id } = await checkout.buildSession();
    const entry = findEntry((await checkout.quote(id)).accepts, SOLANA_DEVNET);
    const [guest, buyer] = [Keypair.generate(), Keypair.generate()];
    const destination = Keypair.generate().publicKey;
    const payload = signSolanaPayment(entry, {
      payer: buyer,
      before: [transferChecked(entry, guest.publicKey, { destination })],
      signers: [guest, buyer],
    });
    const transaction = Keypair.generate().secretKey.toString();
    checkout.facilitator.verify.next(answers(200, { isValid: true, payer }));
    checkout.facilitator.settle.next(
      answers(200, { success: true, transaction, network: SOLANA_DEVNET, payer }),
    );
    const paid = await checkout.visit(id, { 'PAYMENT-SIGNATURE': paymentHeader(entry, payload) });
    assert.equal(answerOf(paid), '200 complete');
    return (await checkout.payment(id)).id;
  }

  const refund = (payment: string) =>
    client(checkout.app, checkout.merchant.testKey).post('/v1/refunds', { payment });

  it('has no payer when the facilitator names none, and is not refunded to a wallet that may be another', async () => {
    const id = await pay(null);
    const { status, body } = await refund(id);
    assert.deepEqual([status, body.error?.code], [400, 'payer_unknown'], body.pay_to);
    const { body: payment } = await client(checkout.app, checkout.merchant.testKey).get(`/v1/payments/${id}`);
    assert.equal(payment.payer, null);
  });

  it("is refunded to the facilitator's payer", async () => {
    const named = Keypair.generate().publicKey.toBase58();
    const { status, body } = await refund(await pay(named));
    assert.deepEqual([status, body.pay_to], [200, named]);
  });
});
