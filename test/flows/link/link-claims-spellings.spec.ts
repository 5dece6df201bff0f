import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { generatePrivateKey } from 'viem/accounts';
import {
  paymentHeader,
  signEvmPayment,
  signSolanaPayment,
  v1PaymentHeader,
} from '../../../lab/world/shop/agent.js';
import {
  BUYER,
  findEntry,
  openCheckout,
  type SignedPayment,
  SOLANA_DEVNET,
  UNTOUCHED,
  X_LAYER_TESTNET,
} from '../../support/checkout.js';
import { countEach, newIds, sendHeader } from '../../support/claims.js';
import { forAllTests } from '../../support/hooks.js';
import { describeBothKinds } from '../../support/kinds.js';
import { answerOf, receiptOf } from '../../support/link-answers.js';

describeBothKinds('a payment claims its session', (kind) => {
  const checkout = forAllTests(() => openCheckout({ kind }));
  afterEach(() => {
    for (const dial of [checkout.facilitator.verify, checkout.facilitator.settle]) dial.honest();
  });

  /** A refund offers only the token in which it was paid, so there is no choice to test. */
  const itWithChoice = kind === 'session' ? it : () => undefined;

  describe('with a payload that counts as the same in every spelling:', () => {
    const spell = (change: Record<string, string>) => (payment: SignedPayment) => {
      const authorization = { ...payment.payload.authorization, ...change };
      return paymentHeader(payment.accepted, { ...payment.payload, authorization });
    };
    /** test/unit/x402/payload.spec.ts has every difference that the key of a payload leaves out. */
    const spellings: Record<string, (payment: SignedPayment) => string> = {
      unchanged: ({ header }) => header,
      'a nonce in upper case': (payment) =>
        spell({ nonce: `0x${payment.payload.authorization.nonce.slice(2).toUpperCase()}` })(payment),
      'a token in lower case': ({ accepted, payload }) =>
        paymentHeader({ ...accepted, asset: accepted.asset.toLowerCase() }, payload),
      'with another extra': ({ accepted, payload }) =>
        paymentHeader({ ...accepted, extra: { name: '', version: '' } }, payload),
      'URL-safe': ({ header }) => Buffer.from(header, 'base64').toString('base64url'),
      'with another signature': ({ accepted, payload }) =>
        paymentHeader(accepted, { ...payload, signature: `0x${'12'.repeat(65)}` }),
    };
    for (const [title, respell] of Object.entries(spellings)) {
      it(title, async () => {
        const [first, second] = await newIds(checkout, 2);
        const payment = await checkout.sign(first ?? '');
        assert.equal(await sendHeader(checkout, first ?? '', payment.header), '200 complete');
        assert.equal(
          await sendHeader(checkout, second ?? '', respell(payment)),
          '409 signature_already_used',
        );
        const again = await checkout.visit(first ?? '', { 'PAYMENT-SIGNATURE': respell(payment) });
        assert.equal(answerOf(again), '409 session_already_paid');
        assert.equal(receiptOf(again)?.success, true);
        assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
        assert.deepEqual(await checkout.state(second ?? ''), UNTOUCHED);
      });
    }

    it('as version 1', async () => {
      const [first, second] = await newIds(checkout, 2);
      const payment = await checkout.sign(first ?? '');
      assert.equal(await sendHeader(checkout, first ?? '', payment.header), '200 complete');
      const header = v1PaymentHeader('base-sepolia', payment.payload);
      const elsewhere = await checkout.visit(second ?? '', { 'X-PAYMENT': header });
      assert.equal(answerOf(elsewhere), '409 signature_already_used');
      const again = await checkout.visit(first ?? '', { 'X-PAYMENT': header });
      assert.equal(answerOf(again), '409 session_already_paid');
      assert.equal(receiptOf(again)?.success, true);
    });

    it('all spellings at the same instant, each on another session', async () => {
      const [signed = '', ...ids] = await newIds(checkout, 1 + Object.keys(spellings).length);
      const payment = await checkout.sign(signed);
      const headers = Object.values(spellings).map((respell) => respell(payment));
      const answers = await Promise.all(
        ids.map((id, index) => sendHeader(checkout, id, headers[index] ?? '')),
      );
      assert.deepEqual(countEach(answers), {
        '200 complete': 1,
        '409 signature_already_used': ids.length - 1,
      });
      assert.equal(checkout.calls(payment).settle, 1);
    });

    itWithChoice('a Solana message, with any signature and in any encoding', async () => {
      const [first = '', second = ''] = await newIds(checkout, 2);
      const entry = findEntry((await checkout.quote(first)).accepts, SOLANA_DEVNET);
      const { transaction } = signSolanaPayment(entry, { payer: Keypair.generate() });
      const bytes = Buffer.from(transaction, 'base64');
      const withFeePayer = Buffer.from(bytes).fill(7, 1, 65);
      const paid = await checkout.visit(first, {
        'PAYMENT-SIGNATURE': paymentHeader(entry, { transaction }),
      });
      assert.equal(answerOf(paid), '200 complete');
      for (const other of [transaction, bytes.toString('base64url'), withFeePayer.toString('base64')]) {
        const header = paymentHeader(entry, { transaction: other });
        assert.equal(await sendHeader(checkout, second, header), '409 signature_already_used');
        const again = await checkout.visit(first, { 'PAYMENT-SIGNATURE': header });
        assert.equal(answerOf(again), '409 session_already_paid');
        assert.deepEqual(receiptOf(again), receiptOf(paid));
      }
    });
  });

  itWithChoice(
    'with a nonce that counts per token: the same nonce for another token is another payment',
    async () => {
      const [first = '', second = ''] = await newIds(checkout, 2);
      const { accepts } = await checkout.quote(first);
      const nonce = generatePrivateKey();
      const tokens = accepts.filter(({ network }) => network === X_LAYER_TESTNET);
      for (const [index, id] of [first, second].entries()) {
        const token = tokens[index];
        assert.ok(token);
        const header = paymentHeader(token, await signEvmPayment(token, { account: BUYER, nonce }));
        // The fake facilitator's ledger keys nonces by network only, so that its answers are given here.
        checkout.facilitator.verify.next({
          works: false,
          answer: () => ({ status: 200, body: { isValid: true } }),
        });
        checkout.facilitator.settle.next({
          works: false,
          answer: () => ({
            status: 200,
            body: { success: true, transaction: `0x${'0'.repeat(63)}${index}` },
          }),
        });
        assert.equal(await sendHeader(checkout, id, header), '200 complete');
      }
    },
  );
});
