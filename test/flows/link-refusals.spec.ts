import assert from 'node:assert/strict';
import { Keypair, PublicKey } from '@solana/web3.js';
import { answers } from '../../lab/world/facilitator/dial.js';
import {
  advanceNonce,
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
const USDG_DEVNET = '4F6PM96JJxngmHnZLBh9n58RH4aTVNWvDs2nuwrT5BP7';

/** The facilitator accepts everything here, and no worker could settle it. */
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
      'no scheme': [{ scheme: undefined }, 'invalid_payment_requirements'],
      'an unknown network': [{ network: 'eip155:424242' }, 'invalid_network'],
      'a main network': [{ network: 'eip155:8453' }, 'invalid_network'],
      'a network by its name of version 1': [{ network: 'base-sepolia' }, 'invalid_network'],
      'no network': [{ network: undefined }, 'invalid_payment_requirements'],
      'another token': [{ asset: STRANGER }, 'invalid_payment_requirements'],
      'no token': [{ asset: undefined }, 'invalid_payment_requirements'],
      'another wallet': [{ payTo: STRANGER }, 'invalid_payment_requirements'],
      'less than the amount': [{ amount: '4499999' }, 'invalid_payment_requirements'],
      'more than the amount': [{ amount: '4500001' }, 'invalid_payment_requirements'],
      'the amount as a number': [{ amount: 4_500_000 }, 'invalid_payment_requirements'],
      'the amount in another spelling': [{ amount: '04500000' }, 'invalid_payment_requirements'],
      'the token of another network': [{ network: X_LAYER_TESTNET }, 'invalid_payment_requirements'],
      'values that are not strings': [{ asset: [], payTo: {}, amount: null }, 'invalid_payment_requirements'],
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

    it('a mint in another case: invalid_payment_requirements', async () => {
      const payload = signSolanaPayment(svm, { payer: Keypair.generate() });
      const header = paymentHeader({ ...svm, asset: svm.asset.toLowerCase() }, payload);
      await assertRefused(header, 'invalid_payment_requirements');
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
      'nothing in it': () => ({}),
      'no signature': ({ authorization }) => ({ authorization }),
      'an empty signature': (payload) => ({ ...payload, signature: '' }),
      'a signature that is not a string': (payload) => ({ ...payload, signature: [payload.signature] }),
      'a signature with a line break': (payload) => ({ ...payload, signature: `${payload.signature}\n` }),
      'no authorization': ({ signature }) => ({ signature }),
      'an authorization that is a list': ({ signature }) => ({ signature, authorization: [] }),
      'no payer': authorization({ from: undefined }),
      'a payer that is not an address': authorization({ from: '0x1234' }),
      'a recipient that is not an address': authorization({ to: 'vitalik.eth' }),
      'the value as a number': authorization({ value: 4_500_000 }),
      'a value that is not decimal': authorization({ value: '0x44aa20' }),
      'a negative value': authorization({ value: '-1' }),
      'a value beyond 256 bits': authorization({ value: (2n ** 256n).toString() }),
      'a validBefore that is a number': authorization({ validBefore: 1_900_000_000 }),
      'a validBefore that is a date': authorization({ validBefore: '2030-01-01T00:00:00Z' }),
      'no validAfter': authorization({ validAfter: undefined }),
      'a nonce of 31 bytes': authorization({ nonce: `0x${'ab'.repeat(31)}` }),
      'a nonce without 0x': authorization({ nonce: 'ab'.repeat(32) }),
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
      'a transaction that is not base64': () => '%%%',
      'half of a transaction': () => honest().slice(0, 200),
      'a transaction with a trailing byte': () =>
        Buffer.concat([Buffer.from(honest(), 'base64'), Buffer.from([0])]).toString('base64'),
      'bytes beyond the network’s limit': () => Buffer.alloc(1233, 1).toString('base64'),
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
      'more than the amount': [
        () => ({ value: 4_500_001n }),
        'invalid_exact_evm_payload_authorization_value',
      ],
      'a value of zero': [() => ({ value: 0n }), 'invalid_exact_evm_payload_authorization_value'],
      'another wallet': [() => ({ to: STRANGER }), 'invalid_exact_evm_payload_recipient_mismatch'],
      'the token’s contract as the wallet': [
        () => ({ to: evm.asset }),
        'invalid_exact_evm_payload_recipient_mismatch',
      ],
      'a validAfter in the future': [
        () => ({ validAfter: seconds() + 60n }),
        'invalid_exact_evm_payload_authorization_valid_after',
      ],
      'a validBefore in the past': [
        () => ({ validBefore: seconds() - 1n }),
        'invalid_exact_evm_payload_authorization_valid_before',
      ],
      'a validBefore of zero': [
        () => ({ validBefore: 0n }),
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
      'transfers more than the amount': [() => ({ amount: 4_500_001n }), /transfers 4500001 /],
      'pays another account': [() => ({ destination: Keypair.generate().publicKey }), /another account/],
      'pays the wallet and not its token account': [
        () => ({ destination: new PublicKey(svm.payTo) }),
        /another account/,
      ],
      'transfers another token': [() => ({ mint: USDG_DEVNET }), /asset/],
      'transfers nothing': [() => ({ instructions: [], signers: [] }), /asset/],
      'uses a durable nonce': [
        () => ({ before: [advanceNonce(Keypair.generate().publicKey)] }),
        /durable nonce/,
      ],
    };
    for (const [title, [parts, error]] of Object.entries(refused)) {
      it(`${title}: invalid_payload`, async () => {
        const payload = signSolanaPayment(svm, { payer: Keypair.generate(), ...parts() });
        await assertRefused(paymentHeader(svm, payload), 'invalid_payload', error);
      });
    }
  });
});
