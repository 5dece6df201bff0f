import assert from 'node:assert/strict';
import { Keypair, TransactionInstruction } from '@solana/web3.js';
import { answers } from '../../../lab/world/facilitator/dial.js';
import {
  type EvmOverrides,
  paymentHeader,
  signEvmPayment,
  signSolanaPayment,
} from '../../../lab/world/shop/agent.js';
import { EVM_WALLET } from '../../../lab/world/shop/factories.js';
import { updateAccount } from '../../../shared/accounts/accounts.js';
import type { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import type { EvmPayload, FacilitatorRequest, PaymentRequirements } from '../../../shared/x402/wire.js';
import {
  BASE_SEPOLIA,
  BUYER,
  findEntry,
  openCheckout,
  SOLANA_DEVNET,
  UNTOUCHED,
  withoutHints,
} from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf, receiptOf } from '../../support/link-answers.js';

const STRANGER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

/**
 * The facilitator accepts everything here, and no worker could settle it. Every reason to refuse is in
 * test/unit/x402/: `match-payment`, `payload`, `svm-transaction` and `check-content`.
 */
describe('what a link looks at before the facilitator is asked', () => {
  const checkout = forAllTests(() => openCheckout({ worker: false }));
  let session: CheckoutSession;
  let accepts: readonly PaymentRequirements[];
  let evm: PaymentRequirements;
  let svm: PaymentRequirements;

  before(async () => {
    checkout.facilitator.verify.always(answers(200, { isValid: true }));
  });
  beforeEach(async () => {
    session = await checkout.buildSession();
    accepts = (await checkout.quote(session.id)).accepts;
    evm = findEntry(accepts, BASE_SEPOLIA);
    svm = findEntry(accepts, SOLANA_DEVNET);
  });
  afterEach(resetClock);

  const asked = (): number => checkout.facilitator.calls.verify.length;

  /** The answer is 402 with this code and the offer, the facilitator was not called, and nothing has changed. */
  async function assertRefused(header: string, code: string, error?: RegExp): Promise<void> {
    const before = asked();
    const res = await checkout.visit(session.id, { 'PAYMENT-SIGNATURE': header });
    assert.equal(answerOf(res), `402 ${code}`);
    assert.deepEqual(res.body.accepts, accepts);
    assert.match(res.body.error, error ?? /./);
    assert.equal(receiptOf(res), undefined);
    assert.equal(asked(), before);
    assert.deepEqual(await checkout.state(session.id), UNTOUCHED);
    // The refusal is for the paying request only: a later GET gets the plain offer.
    assert.equal(answerOf(await checkout.visit(session.id)), '402');
  }

  describe('refuses an entry that is not in `accepts`:', () => {
    const accepted: Record<string, [changes: Record<string, unknown>, code: string]> = {
      'a main network': [{ network: 'eip155:8453' }, 'invalid_network'],
      'less than the amount': [{ amount: '4499999' }, 'invalid_payment_requirements'],
    };
    for (const [title, [changes, code]] of Object.entries(accepted)) {
      it(`${title}: ${code}`, async () => {
        const payload = await signEvmPayment(evm, { account: BUYER });
        const header = paymentHeader(evm, payload, { accepted: { ...evm, ...changes } });
        await assertRefused(header, code);
      });
    }

    it('another version of x402: invalid_x402_version', async () => {
      const payload = await signEvmPayment(evm, { account: BUYER });
      const header = paymentHeader(evm, payload, { x402Version: 3 });
      await assertRefused(header, 'invalid_x402_version', /version 2/);
    });

    it('the merchant’s former wallet', async () => {
      const { header } = await checkout.sign(session.id);
      await updateAccount(checkout.app.db, checkout.merchant.accountId, { evmWallet: STRANGER });
      try {
        ({ accepts } = await checkout.quote(session.id));
        await assertRefused(header, 'invalid_payment_requirements');
      } finally {
        await updateAccount(checkout.app.db, checkout.merchant.accountId, { evmWallet: EVM_WALLET });
      }
    });
  });

  it("refuses a payload of another form than its network's: invalid_payload", async () => {
    const { transaction } = signSolanaPayment(svm, { payer: Keypair.generate() });
    const payload = await signEvmPayment(evm, { account: BUYER });
    await assertRefused(paymentHeader(evm, { transaction }), 'invalid_payload');
    await assertRefused(paymentHeader(svm, payload), 'invalid_payload');
  });

  it('refuses a number of an authorization that is no string of decimal digits, and says that it must be one', async () => {
    const { signature, authorization } = await signEvmPayment(evm, { account: BUYER });
    const { value, validBefore } = authorization;
    const forms = [
      { value: Number(value) },
      { value: `0x${BigInt(value).toString(16)}` },
      { validBefore: Number(validBefore) },
    ];
    for (const form of forms) {
      const payload = { signature, authorization: { ...authorization, ...form } };
      await assertRefused(paymentHeader(evm, payload), 'invalid_payload', /strings of decimal digits/);
    }
  });

  describe('refuses an authorization with', () => {
    const seconds = (): bigint => BigInt(Math.floor(nowMs() / 1000));
    const contradictions: Record<string, [parts: () => EvmOverrides, code: string]> = {
      'another wallet': [() => ({ to: STRANGER }), 'invalid_exact_evm_payload_recipient_mismatch'],
      'a validAfter in the future': [
        () => ({ validAfter: seconds() + 60n }),
        'invalid_exact_evm_payload_authorization_valid_after',
      ],
    };
    for (const [title, [parts, code]] of Object.entries(contradictions)) {
      it(`${title}: ${code}`, async () => {
        const payload = await signEvmPayment(evm, { account: BUYER, ...parts() });
        await assertRefused(paymentHeader(evm, payload), code);
      });
    }

    it('a validBefore that has passed since the signature', async () => {
      const { header } = await checkout.sign(session.id);
      advanceClock(301_000);
      await assertRefused(header, 'invalid_exact_evm_payload_authorization_valid_before');
    });
  });

  it('refuses a transaction that transfers less than the amount: invalid_payload', async () => {
    const payload = signSolanaPayment(svm, { payer: Keypair.generate(), amount: 4_499_999n });
    await assertRefused(paymentHeader(svm, payload), 'invalid_payload', /transfers 4499999 /);
  });

  async function assertLeftToFacilitator(header: string): Promise<FacilitatorRequest> {
    const before = asked();
    checkout.facilitator.verify.next(answers(200, { isValid: false, invalidReason: 'asked' }));
    assert.equal(answerOf(await checkout.visit(session.id, { 'PAYMENT-SIGNATURE': header })), '402 asked');
    assert.equal(asked(), before + 1);
    return checkout.facilitator.calls.verify.at(-1)?.body as FacilitatorRequest;
  }

  describe('and leaves to the facilitator:', () => {
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

  describe('and normalises:', () => {
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
