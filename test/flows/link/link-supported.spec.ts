import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { altered, answers, answersGarbage, breaksBeforeWork } from '../../../lab/world/facilitator/dial.js';
import type { FacilitatorOptions } from '../../../lab/world/facilitator/facilitator.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { paymentHeader, signSolanaPayment } from '../../../lab/world/shop/agent.js';
import { updateAccount } from '../../../shared/accounts/accounts.js';
import type { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import { BASE_SEPOLIA, type Checkout, findEntry, SOLANA_DEVNET, UNTOUCHED } from '../../support/checkout.js';
import { answerOf } from '../../support/link-answers.js';
import { FEE_PAYER, OTHER_FEE_PAYER, openQuotes } from '../../support/quotes.js';

interface Nothing extends FacilitatorOptions {
  account?: Parameters<typeof updateAccount>[2];
  parts?: Partial<CheckoutSession>;
}

describe("a link's payment requirements and /supported", () => {
  let checkout: Checkout;

  async function open(options?: FacilitatorOptions): Promise<void> {
    checkout = await openQuotes(options);
  }

  async function acceptsOf(session: CheckoutSession): Promise<readonly PaymentRequirements[]> {
    return (await checkout.quote(session.id)).accepts;
  }

  async function assertPageSays(id: string, words: RegExp): Promise<void> {
    const page = await checkout.visit(id, { Accept: 'text/html' });
    assert.equal(answerOf(page), '200 page');
    assert.match(page.text, words);
  }

  afterEach(async () => {
    resetClock();
    await checkout.close();
  });

  describe('name a fee payer on Solana', () => {
    const feePayerOf = async (session: CheckoutSession): Promise<unknown> => {
      const { memo, ...extra }: Record<string, unknown> = {
        ...findEntry(await acceptsOf(session), SOLANA_DEVNET).extra,
      };
      assert.equal(typeof memo, 'string');
      return extra;
    };
    /** Stands for another node of the facilitator, or the same one after a restart. */
    function lists(...feePayers: string[]): void {
      const kinds = feePayers.map((feePayer) => ({
        x402Version: 2,
        scheme: 'exact',
        network: SOLANA_DEVNET,
        extra: { feePayer },
      }));
      checkout.facilitator.supported.always(altered({ kinds, signers: {} }));
      advanceClock(61_000);
    }

    it('that stays the same while the facilitator lists it, and changes then', async () => {
      await open();
      const session = await checkout.buildSession();
      assert.deepEqual(await feePayerOf(session), { feePayer: FEE_PAYER });
      lists(OTHER_FEE_PAYER, FEE_PAYER);
      assert.deepEqual(await feePayerOf(session), { feePayer: FEE_PAYER });
      assert.deepEqual(await feePayerOf(await checkout.buildSession()), { feePayer: OTHER_FEE_PAYER });
      lists(OTHER_FEE_PAYER);
      assert.deepEqual(await feePayerOf(session), { feePayer: OTHER_FEE_PAYER });
    });

    it('that is the same for simultaneous visits, and is stored once', async () => {
      await open();
      const session = await checkout.buildSession();
      const offered = await Promise.all(Array.from({ length: 20 }, () => feePayerOf(session)));
      for (const extra of offered) assert.deepEqual(extra, { feePayer: FEE_PAYER });
      assert.deepEqual((await checkout.session(session.id)).offeredFeePayers, [FEE_PAYER]);
    });

    for (const [title, { signed, relisted = false, verified }] of Object.entries({
      'accept a payment with an offered one that the facilitator no longer lists': {
        signed: FEE_PAYER,
        relisted: true,
        verified: FEE_PAYER,
      },
      'accept a payment with a listed one that was not offered': {
        signed: OTHER_FEE_PAYER,
        verified: OTHER_FEE_PAYER,
      },
      'replace one that was neither listed nor offered': {
        signed: Keypair.generate().publicKey.toBase58(),
        verified: FEE_PAYER,
      },
    } as Record<string, { signed: string; relisted?: boolean; verified: string }>)) {
      it(`and ${title}`, async () => {
        await open();
        const session = await checkout.buildSession();
        const offered = findEntry(await acceptsOf(session), SOLANA_DEVNET);
        const accepted = { ...offered, extra: { feePayer: signed } };
        const payload = signSolanaPayment(accepted, { payer: Keypair.generate() });
        if (relisted) lists(OTHER_FEE_PAYER);
        await sendUntilVerified(session, accepted, payload);
        assert.deepEqual(verifiedFeePayer(), { feePayer: verified });
      });
    }

    /** `/verify` fails, so that nothing is claimed. */
    async function sendUntilVerified(
      session: CheckoutSession,
      accepted: PaymentRequirements,
      payload: object,
    ): Promise<void> {
      checkout.facilitator.verify.next(answers(500));
      const header = paymentHeader(accepted, payload);
      const res = await checkout.visit(session.id, { 'PAYMENT-SIGNATURE': header });
      assert.equal(answerOf(res), '503 payment_service_unavailable');
    }

    function verifiedFeePayer(): unknown {
      const { body } = checkout.facilitator.calls.verify.at(-1) ?? {};
      const { paymentRequirements, paymentPayload } = body as {
        paymentRequirements: PaymentRequirements;
        paymentPayload: { accepted: PaymentRequirements };
      };
      assert.deepEqual(paymentPayload.accepted, paymentRequirements);
      return paymentRequirements.extra;
    }
  });

  describe('while /supported gives no usable answer', () => {
    for (const [title, behaviour] of Object.entries({
      'answers 500': answers(500),
      'answers truncated JSON': answersGarbage(),
      'answers JSON without kinds': answers(200, { supported: [] }),
      'resets the connection': breaksBeforeWork(),
    })) {
      it(`because it ${title}: 503, and the page says so`, async () => {
        await open();
        checkout.facilitator.supported.always(behaviour);
        const { id } = await checkout.buildSession();
        assert.equal(answerOf(await checkout.visit(id)), '503 payment_service_unavailable');
        await assertPageSays(id, /cannot be taken right now/i);
        checkout.facilitator.supported.honest();
        assert.equal(answerOf(await checkout.visit(id)), '402');
      });
    }

    it('go on with the last answer for ten minutes', async () => {
      await open();
      const session = await checkout.buildSession();
      const before = await acceptsOf(session);
      checkout.facilitator.supported.always(answers(500));
      for (const seconds of [61, 300, 230]) {
        advanceClock(seconds * 1000);
        assert.deepEqual(await acceptsOf(session), before);
      }
      advanceClock(15_000);
      assert.equal(answerOf(await checkout.visit(session.id)), '503 payment_service_unavailable');
    });

    it('accept a payment on the basis of the last answer', async () => {
      await open();
      const session = await checkout.buildSession();
      const payment = await checkout.sign(session.id);
      checkout.facilitator.supported.always(answers(500));
      advanceClock(61_000);
      checkout.facilitator.verify.next(answers(500));
      await checkout.visit(session.id, { 'PAYMENT-SIGNATURE': payment.header });
      assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 0 });
    });

    it('ask again after some seconds, not at every visit', async () => {
      await open();
      const session = await checkout.buildSession();
      await checkout.visit(session.id);
      checkout.facilitator.supported.always(answers(500));
      advanceClock(61_000);
      for (let visits = 0; visits < 5; visits += 1) await checkout.visit(session.id);
      assert.equal(checkout.facilitator.calls.supported.length, 2);
      advanceClock(10_000);
      await checkout.visit(session.id);
      await eventually(() => assert.equal(checkout.facilitator.calls.supported.length, 3));
    });
  });

  describe('when there is nothing to offer', () => {
    const NO_WALLET = { evmWallet: null, solanaWallet: null };
    for (const [why, { networks, account = {}, parts }] of Object.entries<Nothing>({
      "the facilitator supports none of the merchant's networks": { networks: [] },
      'the merchant has no wallet of any family': { account: NO_WALLET },
      'the merchant has a Solana wallet only and its tokens cannot count so far': {
        account: { evmWallet: null },
        parts: { amountTotalCents: 1_844_674_407_370_956 },
      },
      'the facilitator supports test networks only and the session is live': {
        networks: [BASE_SEPOLIA, SOLANA_DEVNET],
        parts: { livemode: true },
      },
    })) {
      it(`because ${why}: 503, and the page says so`, async () => {
        await open(networks && { networks });
        await updateAccount(checkout.app.db, checkout.merchant.accountId, account);
        const { id } = await checkout.buildSession(parts);
        assert.equal(answerOf(await checkout.visit(id)), '503 payments_unavailable');
        await assertPageSays(id, /no network/i);
        assert.deepEqual(await checkout.state(id), UNTOUCHED);
      });
    }

    it('are a 503 to a payment as well', async () => {
      await open();
      const { id } = await checkout.buildSession();
      const payment = await checkout.sign(id);
      checkout.facilitator.supported.always(altered({ kinds: [] }));
      advanceClock(61_000);
      const res = await checkout.visit(id, { 'PAYMENT-SIGNATURE': payment.header });
      assert.equal(answerOf(res), '503 payments_unavailable');
      assert.deepEqual(checkout.calls(payment), { verify: 0, settle: 0 });
    });
  });
});
