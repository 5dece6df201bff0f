import assert from 'node:assert/strict';
import { Keypair, TransactionInstruction } from '@solana/web3.js';
import { answers } from '../../lab/world/facilitator/dial.js';
import { paymentHeader, signEvmPayment, signSolanaPayment } from '../../lab/world/shop/agent.js';
import type { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { nowMs } from '../../shared/process/clock.js';
import type { EvmPayload, FacilitatorRequest, PaymentRequirements } from '../../shared/x402/wire.js';
import {
  BASE_SEPOLIA,
  BUYER,
  findEntry,
  openCheckout,
  SOLANA_DEVNET,
  withoutHints,
} from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';
import { answerOf } from '../support/link-answers.js';

/** The facilitator accepts everything here, and no worker could settle it. */
describe('a payment link', () => {
  const checkout = forAllTests(() => openCheckout({ worker: false }));
  let session: CheckoutSession;
  let evm: PaymentRequirements;
  let svm: PaymentRequirements;

  before(async () => {
    checkout.facilitator.verify.always(answers(200, { isValid: true }));
  });
  beforeEach(async () => {
    session = await checkout.buildSession();
    const { accepts } = await checkout.quote(session.id);
    evm = findEntry(accepts, BASE_SEPOLIA);
    svm = findEntry(accepts, SOLANA_DEVNET);
  });

  const asked = (): number => checkout.facilitator.calls.verify.length;

  async function assertLeftToFacilitator(header: string): Promise<FacilitatorRequest> {
    const before = asked();
    checkout.facilitator.verify.next(answers(200, { isValid: false, invalidReason: 'asked' }));
    assert.equal(answerOf(await checkout.visit(session.id, { 'PAYMENT-SIGNATURE': header })), '402 asked');
    assert.equal(asked(), before + 1);
    return checkout.facilitator.calls.verify.at(-1)?.body as FacilitatorRequest;
  }

  describe('leaves to the facilitator:', () => {
    it('an authorization near its end, or that ends far ahead', async () => {
      const soon = BigInt(Math.floor(nowMs() / 1000) + 30);
      for (const parts of [{ validBefore: soon }, { validBefore: 2n ** 256n - 1n }]) {
        const payload = await signEvmPayment(evm, { account: BUYER, ...parts });
        await assertLeftToFacilitator(paymentHeader(evm, payload));
      }
    });

    it('signatures of any form and length, which are passed on unchanged', async () => {
      const { authorization } = await signEvmPayment(evm, { account: BUYER });
      const signatures = [`0x${'cd'.repeat(900)}`, 'not-even-hex'];
      for (const forged of signatures) {
        const header = paymentHeader(evm, { signature: forged, authorization });
        const { paymentPayload } = await assertLeftToFacilitator(header);
        assert.equal((paymentPayload.payload as EvmPayload).signature, forged);
      }
    });

    it('a transaction whose content the link cannot read', async () => {
      const strange = { programId: Keypair.generate().publicKey, keys: [], data: Buffer.from([1]) };
      const instructions = [new TransactionInstruction(strange)];
      const payload = signSolanaPayment(svm, { payer: Keypair.generate(), instructions, signers: [] });
      await assertLeftToFacilitator(paymentHeader(svm, payload));
    });
  });

  describe('normalises:', () => {
    it('an entry in another case, without `extra`, with other values, or with unknown fields', async () => {
      const payload = await signEvmPayment(evm, { account: BUYER });
      const { extra: _, ...bare } = evm;
      for (const accepted of [
        { ...bare, payTo: evm.payTo.toLowerCase(), outputSchema: { deep: [1] } },
        { ...evm, extra: { name: 'Fake Coin', version: '9', feePayer: 'x' }, maxTimeoutSeconds: 9_999 },
      ]) {
        const header = paymentHeader(evm, payload, { accepted });
        const { paymentRequirements, paymentPayload } = await assertLeftToFacilitator(header);
        assert.deepEqual(paymentRequirements, withoutHints(evm));
        assert.deepEqual(paymentPayload.accepted, withoutHints(evm));
      }
    });

    it('a payload with unknown fields, which are not passed on', async () => {
      const payload = await signEvmPayment(evm, { account: BUYER });
      const header = paymentHeader(
        evm,
        {
          ...payload,
          permit2Authorization: { permitted: { token: evm.asset, amount: '1' } },
          authorization: { ...payload.authorization, extraField: 'x' },
          transaction: 'AAAA',
        },
        { scheme: 'exact', network: BASE_SEPOLIA, resource: { url: 'x' }, extensions: { a: {} } },
      );
      const request = await assertLeftToFacilitator(header);
      assert.deepEqual(request, {
        x402Version: 2,
        paymentPayload: { x402Version: 2, accepted: withoutHints(evm), payload },
        paymentRequirements: withoutHints(evm),
      });
    });

    it('numbers with leading zeros, and addresses and nonces in any case', async () => {
      const payload = await signEvmPayment(evm, { account: BUYER });
      const { from, to, value, nonce } = payload.authorization;
      const spelled = {
        ...payload.authorization,
        from: from.toLowerCase(),
        to: to.toLowerCase(),
        value: `000${value}`,
        nonce: `0x${nonce.slice(2).toUpperCase()}`,
      };
      const header = paymentHeader(evm, { ...payload, authorization: spelled });
      const { paymentPayload } = await assertLeftToFacilitator(header);
      assert.deepEqual(paymentPayload.payload, payload);
    });
  });
});
