import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import {
  altered,
  answers,
  answersHtml,
  type Behaviour,
  breaksAfterWork,
  breaksBeforeWork,
  refuses,
} from '../../../lab/world/facilitator/dial.js';
import { startFacilitator } from '../../../lab/world/facilitator/facilitator.js';
import { paymentHeader, signEvmPayment } from '../../../lab/world/shop/agent.js';
import type { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import type { FacilitatorRequest } from '../../../shared/x402/wire.js';
import {
  BUYER,
  type Checkout,
  findEntry,
  openCheckout,
  type SignedPayment,
  UNTOUCHED,
  withoutHints,
  X_LAYER_TESTNET,
} from '../../support/checkout.js';
import { answerOf } from '../../support/link-answers.js';

const UNDECIDED = '503 payment_service_unavailable';

/**
 * The specs verify-answer, failure-codes and recovers-to-payer in test/unit/x402/ have every answer and every signature,
 * test/flows/facilitators/several-facilitators.spec.ts a facilitator that hangs or cannot be reached.
 */
describe('a payment that /verify', () => {
  let checkout: Checkout;
  let session: CheckoutSession;
  let payment: SignedPayment;

  before(async () => {
    const facilitator = await startFacilitator({ strict: true });
    checkout = await openCheckout({ facilitator });
  });
  beforeEach(async () => {
    session = await checkout.buildSession();
    payment = await checkout.sign(session.id);
  });
  afterEach(() => checkout.facilitator.verify.honest());
  after(() => checkout.close());

  const send = ({ header }: { header: string } = payment): Promise<string> =>
    checkout.visit(session.id, { 'PAYMENT-SIGNATURE': header }).then(answerOf);

  /** Asserts one call of /verify and no claim; the same signature pays later. */
  async function assertNothingHappened(): Promise<void> {
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 0 });
    assert.deepEqual(await checkout.state(session.id), UNTOUCHED);
    assert.equal(answerOf(await checkout.visit(session.id)), '402');
    assert.equal(await send(), '200 complete');
    assert.deepEqual(checkout.calls(payment), { verify: 2, settle: 1 });
  }

  it('accepts is settled', async () => {
    assert.equal(await send(), '200 complete');
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 1 });
    const [accepted, payload] = [withoutHints(payment.accepted), payment.payload];
    const paymentPayload = { x402Version: 2, accepted, payload } as const;
    const expected: FacilitatorRequest = { x402Version: 2, paymentPayload, paymentRequirements: accepted };
    assert.deepEqual(checkout.facilitator.calls.verify.at(-1)?.body, expected);
    assert.deepEqual(checkout.facilitator.calls.settle.at(-1)?.body, expected);
  });

  it('accepts in an unusual form is settled: with null for the payer, unknown fields and status 402', async () => {
    const unusual = { payer: null, extensions: { a: 1 }, extra: [], invalidReason: null };
    checkout.facilitator.verify.next(altered(unusual, 402));
    assert.equal(await send(), '200 complete');
  });

  for (const [title, [behaviour, answer]] of Object.entries<[Behaviour, string]>({
    'refuses with a code of its own version': [
      refuses('invalid_exact_evm_insufficient_balance'),
      '402 insufficient_funds',
    ],
    'refuses with a word of tomorrow': [refuses('a_word_of_2027'), '402 a_word_of_2027'],
    'refuses in a sentence': [refuses('Insufficient Funds'), '402 payment_failed'],
    'answers 500 with isValid true': [answers(500, { isValid: true }), UNDECIDED],
    'answers 200 in HTML': [answersHtml(200), UNDECIDED],
    redirects: [
      { works: false, answer: () => ({ status: 308, body: '', headers: { location: '/' } }) },
      UNDECIDED,
    ],
    'resets the connection of': [breaksBeforeWork(), UNDECIDED],
    'answers in a truncated body': [breaksAfterWork('truncate'), UNDECIDED],
  })) {
    it(`${title}: ${answer}, and the same signature pays later`, async () => {
      checkout.facilitator.verify.next(behaviour);
      assert.equal(await send(), answer);
      await assertNothingHappened();
    });
  }

  describe('rejects for its signature', () => {
    const wordings = ['invalid_exact_evm_signature', 'invalid_exact_evm_payload_signature'];

    for (const wording of wordings) {
      it(`(${wording}): 503 when the signature is the payer’s own, as the facilitator is wrong`, async () => {
        checkout.facilitator.verify.next(refuses(wording));
        assert.equal(await send(), UNDECIDED);
        await assertNothingHappened();
      });

      it(`(${wording}): 402 when the signature was tampered with`, async () => {
        const { accepted, payload } = payment;
        const signature = payload.signature.replace(/.(?=.{4}$)/, (digit) => (digit === '0' ? '1' : '0'));
        checkout.facilitator.verify.next(refuses(wording));
        const tampered = { header: paymentHeader(accepted, { ...payload, signature }) };
        assert.equal(await send(tampered), '402 invalid_exact_evm_payload_signature');
        assert.deepEqual(await checkout.state(session.id), UNTOUCHED);
      });
    }

    /** A strict facilitator that recovers the signer judges these payments. */
    for (const [title, forge] of Object.entries<
      (honest: SignedPayment) => Promise<{ signature?: string; authorization?: object }>
    >({
      'another’s signature': async ({ accepted }) => {
        const { signature } = await signEvmPayment(accepted, { account: BUYER });
        return { signature };
      },
      'another payer than the signer': async ({ payload }) => ({
        authorization: { ...payload.authorization, from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
      }),
      'the domain of another chain': async ({ accepted }) =>
        await signEvmPayment(accepted, { account: BUYER, domain: { chainId: 8453 } }),
      'a signature of a contract wallet': async () => ({ signature: `0x${'ab'.repeat(300)}` }),
    })) {
      it(`is answered 402: ${title}`, async () => {
        const { accepted, payload } = payment;
        const header = paymentHeader(accepted, { ...payload, ...(await forge(payment)) });
        assert.equal(await send({ header }), '402 invalid_exact_evm_payload_signature');
        assert.deepEqual(await checkout.state(session.id), UNTOUCHED);
      });
    }

    it('is answered 402: a valid signature for another token than the paid one', async () => {
      const { accepts } = await checkout.quote(session.id);
      const usdc = findEntry(accepts, X_LAYER_TESTNET);
      const usdt = accepts.filter(({ network }) => network === X_LAYER_TESTNET)[1];
      assert.ok(usdt);
      const header = paymentHeader(usdt, await signEvmPayment(usdc, { account: BUYER }));
      assert.equal(await send({ header }), '402 invalid_exact_evm_payload_signature');
    });
  });
});

describe('a facilitator with authentication', () => {
  it('gets the service’s token on /verify and on /settle', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const secret = `svc_sk_${privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')}`;
    const facilitator = await startFacilitator({ tokens: { keyId: 'key_1', publicKey } });
    const environment = { FACILITATOR_KEY_ID: 'key_1', FACILITATOR_SECRET: secret };
    const checkout = await openCheckout({ facilitator, environment });
    const { id } = await checkout.buildSession();
    assert.equal(answerOf(await checkout.pay(id)), '200 complete');
    await checkout.close();
  });
});
