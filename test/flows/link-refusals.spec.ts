import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { answers } from '../../lab/world/facilitator/dial.js';
import {
  type EvmOverrides,
  paymentHeader,
  type SolanaOverrides,
  signEvmPayment,
  signSolanaPayment,
} from '../../lab/world/shop/agent.js';
import { EVM_WALLET } from '../../lab/world/shop/factories.js';
import { updateAccount } from '../../shared/accounts/accounts.js';
import type { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { advanceClock, nowMs, resetClock } from '../../shared/process/clock.js';
import type { EvmPayload, PaymentRequirements } from '../../shared/x402/wire.js';
import {
  BASE_SEPOLIA,
  BUYER,
  findEntry,
  openCheckout,
  SOLANA_DEVNET,
  X_LAYER_TESTNET,
} from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';
import { answerOf, receiptOf } from '../support/link-answers.js';

const STRANGER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

/**
 * The facilitator accepts everything here, and no worker could settle it. Every reason to refuse is in
 * test/unit/x402/: `match-payment`, `payload`, `svm-transaction` and `check-content`.
 */
describe('a link refuses before the facilitator is asked', () => {
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
    assert.deepEqual(await checkout.state(session.id), { session: 'open', payments: [], events: [] });
    // The refusal is for the paying request only: a later GET gets the plain offer.
    assert.equal(answerOf(await checkout.visit(session.id)), '402');
  }

  describe('an entry that is not in `accepts`:', () => {
    const accepted: Record<string, [changes: Record<string, unknown>, code: string]> = {
      'another scheme': [{ scheme: 'upto' }, 'unsupported_scheme'],
      'a main network': [{ network: 'eip155:8453' }, 'invalid_network'],
      'less than the amount': [{ amount: '4499999' }, 'invalid_payment_requirements'],
      'the token of another network': [{ network: X_LAYER_TESTNET }, 'invalid_payment_requirements'],
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
      for (const x402Version of [0, 1, 3, 2.5, -2]) {
        await assertRefused(
          paymentHeader(evm, payload, { x402Version }),
          'invalid_x402_version',
          /version 2/,
        );
      }
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

  describe("a payload of another form than its network's:", () => {
    const authorization = (change: Record<string, unknown>) => (payload: EvmPayload) => ({
      ...payload,
      authorization: { ...payload.authorization, ...change },
    });
    const payloads: Record<string, (payload: EvmPayload) => object> = {
      'no signature': ({ authorization }) => ({ authorization }),
      'the value as a number': authorization({ value: 4_500_000 }),
      'a Solana transaction': () => ({ transaction: 'AAAA' }),
    };
    for (const [title, change] of Object.entries(payloads)) {
      it(`${title}: invalid_payload`, async () => {
        const payload = await signEvmPayment(evm, { account: BUYER });
        await assertRefused(paymentHeader(evm, change(payload)), 'invalid_payload');
      });
    }

    const honest = (): string => signSolanaPayment(svm, { payer: Keypair.generate() }).transaction;
    const transactions: Record<string, () => unknown> = {
      'an EVM payload on Solana': () => undefined,
      'a transaction that is not a string': () => [honest()],
      'half of a transaction': () => honest().slice(0, 200),
    };
    for (const [title, transaction] of Object.entries(transactions)) {
      it(`${title}: invalid_payload`, async () => {
        const { signature, authorization } = await signEvmPayment(evm, { account: BUYER });
        const payload = { signature, authorization, transaction: transaction() };
        await assertRefused(paymentHeader(svm, payload), 'invalid_payload');
      });
    }
  });

  describe('an authorization with', () => {
    const seconds = (): bigint => BigInt(Math.floor(nowMs() / 1000));
    const contradictions: Record<string, [parts: () => EvmOverrides, code: string]> = {
      'less than the amount': [
        () => ({ value: 4_499_999n }),
        'invalid_exact_evm_payload_authorization_value',
      ],
      'another wallet': [() => ({ to: STRANGER }), 'invalid_exact_evm_payload_recipient_mismatch'],
      'a validAfter in the future': [
        () => ({ validAfter: seconds() + 60n }),
        'invalid_exact_evm_payload_authorization_valid_after',
      ],
      'a validBefore in the past': [
        () => ({ validBefore: seconds() - 1n }),
        'invalid_exact_evm_payload_authorization_valid_before',
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

  describe('a transaction that', () => {
    const refused: Record<string, [parts: () => SolanaOverrides, error: RegExp]> = {
      'transfers less than the amount': [() => ({ amount: 4_499_999n }), /transfers 4499999 /],
      'pays another account': [() => ({ destination: Keypair.generate().publicKey }), /another account/],
    };
    for (const [title, [parts, error]] of Object.entries(refused)) {
      it(`${title}: invalid_payload`, async () => {
        const payload = signSolanaPayment(svm, { payer: Keypair.generate(), ...parts() });
        await assertRefused(paymentHeader(svm, payload), 'invalid_payload', error);
      });
    }
  });
});
