import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import request from 'supertest';
import { answers } from '../../../lab/world/facilitator/dial.js';
import {
  paymentHeader,
  signEvmPayment,
  signSolanaPayment,
  v1PaymentHeader,
} from '../../../lab/world/shop/agent.js';
import type { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import type { FacilitatorRequest, PaymentRequirements } from '../../../shared/x402/wire.js';
import {
  BASE_SEPOLIA,
  BUYER,
  findEntry,
  openCheckout,
  SOLANA_DEVNET,
  UNTOUCHED,
  withoutHints,
  X_LAYER_TESTNET,
} from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf } from '../../support/link-answers.js';

const USDT_X_LAYER = '0x9e29b3AaDa05Bf2D2c827Af80Bd28Dc0b9b4FB0c';
const USDG_DEVNET = '4F6PM96JJxngmHnZLBh9n58RH4aTVNWvDs2nuwrT5BP7';
const LONGEST = 16 * 1024;

describe('a payment header', () => {
  const checkout = forAllTests(openCheckout);
  let session: CheckoutSession;
  let accepts: readonly PaymentRequirements[];

  beforeEach(async () => {
    session = await checkout.buildSession();
    accepts = (await checkout.quote(session.id)).accepts;
  });
  afterEach(() => checkout.facilitator.verify.honest());

  const send = (headers: Record<string, string>): Promise<string> =>
    checkout.visit(session.id, headers).then(answerOf);

  /** The request that the facilitator gets about the payment; it refuses, so that nothing is claimed. */
  async function askedFor(headers: Record<string, string>): Promise<FacilitatorRequest> {
    checkout.facilitator.verify.next(answers(200, { isValid: false, invalidReason: 'asked' }));
    assert.equal(await send(headers), '402 asked');
    return checkout.facilitator.calls.verify.at(-1)?.body as FacilitatorRequest;
  }

  describe('may be', () => {
    /** Bytes that differ between the two alphabets, with a length that needs padding. */
    async function awkwardHeader(): Promise<Buffer> {
      const { accepted, payload } = await checkout.sign(session.id);
      const header = paymentHeader(accepted, payload, { extensions: { text: '???>>>ÿÿÿ' } });
      const bytes = Buffer.from(header, 'base64');
      return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 3)) % 3, ' ')]);
    }

    /** test/unit/x402/headers.spec.ts has every other form. */
    const forms: Record<string, (bytes: Buffer) => string> = {
      'URL-safe base64': (bytes) => bytes.toString('base64url'),
      'base64 between blanks': (bytes) => `  ${bytes.toString('base64')}\t`,
    };
    for (const [title, encode] of Object.entries(forms)) {
      it(title, async () => {
        const bytes = await awkwardHeader();
        assert.match(bytes.toString('base64'), /[+/].*==$/);
        assert.equal(await send({ 'PAYMENT-SIGNATURE': encode(bytes) }), '200 complete');
      });
    }

    it('as long as 16 KiB', async () => {
      const header = await paddedTo(LONGEST);
      assert.equal(header.length, LONGEST);
      assert.equal(await send({ 'PAYMENT-SIGNATURE': header }), '200 complete');
    });

    for (const name of ['X-PAYMENT', 'payment-signature']) {
      it(`in ${name} as well`, async () => {
        const { header } = await checkout.sign(session.id);
        assert.equal(await send({ [name]: header }), '200 complete');
      });
    }
  });

  /** A payment whose header has this many characters. */
  async function paddedTo(length: number): Promise<string> {
    const { accepted, payload } = await checkout.sign(session.id);
    const bare = Buffer.from(paymentHeader(accepted, payload, { filler: '' }), 'base64').length;
    return paymentHeader(accepted, payload, { filler: 'x'.repeat((length / 4) * 3 - bare) });
  }

  describe('is answered 400 when it is', () => {
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
    const whole = { x402Version: 2, accepted: {}, payload: {} };
    /** test/unit/x402/headers.spec.ts has every other malformed header. */
    const malformed: Record<string, string> = {
      empty: '',
      'with a list for `accepted`': encode({ ...whole, accepted: [] }),
      'of version 1 without its network': encode({ x402Version: 1, scheme: 'exact', payload: {} }),
    };
    for (const [title, header] of Object.entries(malformed)) {
      it(title, async () => {
        const asked = checkout.facilitator.calls.verify.length;
        for (const name of ['PAYMENT-SIGNATURE', 'X-PAYMENT']) {
          assert.equal(await send({ [name]: header }), '400 invalid_payment_payload');
        }
        assert.equal(checkout.facilitator.calls.verify.length, asked);
        assert.deepEqual(await checkout.state(session.id), UNTOUCHED);
      });
    }

    it('longer than 16 KiB, or sent twice', async () => {
      const { header } = await checkout.sign(session.id);
      const longer = await Promise.all([LONGEST + 4, 30 * 1024].map(paddedTo));
      for (const refused of [...longer, `${header}, ${header}`])
        assert.equal(await send({ 'PAYMENT-SIGNATURE': refused }), '400 invalid_payment_payload');
    });
  });

  it('longer than 32 KiB is refused by the HTTP server', async () => {
    const header = 'A'.repeat(33 * 1024);
    const res = await request(checkout.app.server).get(`/c/${session.id}`).set('PAYMENT-SIGNATURE', header);
    assert.equal(res.status, 431);
  });

  it('is read from PAYMENT-SIGNATURE beside another in X-PAYMENT, whichever is valid', async () => {
    const [first, second] = [await checkout.sign(session.id), await checkout.sign(session.id)];
    const both = (old: string, header: string) => send({ 'X-PAYMENT': old, 'PAYMENT-SIGNATURE': header });
    assert.equal(await both(second.header, 'none!'), '400 invalid_payment_payload');
    assert.equal(await both(second.header, first.header), '200 complete');
    assert.deepEqual(checkout.calls(first), { verify: 1, settle: 1 });
    assert.deepEqual(checkout.calls(second), { verify: 0, settle: 0 });
    const next = await checkout.buildSession();
    const { header } = await checkout.sign(next.id);
    const headers = { 'X-PAYMENT': 'none!', 'PAYMENT-SIGNATURE': header };
    assert.equal(answerOf(await checkout.visit(next.id, headers)), '200 complete');
  });

  describe('of x402 version 1', () => {
    const payer = Keypair.generate();

    it('pays in X-PAYMENT, and is settled as version 2', async () => {
      const entry = findEntry(accepts, BASE_SEPOLIA);
      const payload = await signEvmPayment(entry, { account: BUYER });
      const header = v1PaymentHeader('base-sepolia', payload);
      const res = await checkout.visit(session.id, { 'X-PAYMENT': header });
      assert.equal(answerOf(res), '200 complete');
      assert.equal(res.get('X-PAYMENT-RESPONSE'), res.get('PAYMENT-RESPONSE'));
      const expected: FacilitatorRequest = {
        x402Version: 2,
        paymentPayload: { x402Version: 2, accepted: withoutHints(entry), payload },
        paymentRequirements: withoutHints(entry),
      };
      assert.deepEqual(checkout.facilitator.calls.verify.at(-1)?.body, expected);
      assert.deepEqual(checkout.facilitator.calls.settle.at(-1)?.body, expected);
      assert.equal(await send({ 'X-PAYMENT': header }), '409 session_already_paid');
    });

    it('pays the token under whose domain it was signed', async () => {
      const tokens = accepts.filter(({ network }) => network === X_LAYER_TESTNET);
      assert.equal(tokens.length, 3);
      for (const token of tokens) {
        const header = v1PaymentHeader('xlayer-testnet', await signEvmPayment(token, { account: BUYER }));
        assert.deepEqual((await askedFor({ 'X-PAYMENT': header })).paymentRequirements, withoutHints(token));
      }
    });

    it('pays the token of its Solana transaction', async () => {
      for (const asset of [undefined, USDG_DEVNET]) {
        const token = findEntry(accepts, SOLANA_DEVNET, asset);
        const header = v1PaymentHeader('solana-devnet', signSolanaPayment(token, { payer }));
        const [feePayer] = checkout.facilitator.feePayers;
        const asked = withoutHints(token);
        assert.deepEqual(asked.extra, { feePayer });
        assert.deepEqual((await askedFor({ 'X-PAYMENT': header })).paymentRequirements, asked);
      }
    });

    it("is refused when its signature matches no offered token's domain", async () => {
      const token = findEntry(accepts, X_LAYER_TESTNET, USDT_X_LAYER);
      const payload = await signEvmPayment(token, { account: BUYER, domain: { version: '7' } });
      const header = v1PaymentHeader('xlayer-testnet', payload);
      assert.equal(await send({ 'X-PAYMENT': header }), '402 invalid_payment_requirements');
    });

    it('is refused for another network, scheme or content', async () => {
      const { payload } = await checkout.sign(session.id);
      const less = await signEvmPayment(findEntry(accepts, BASE_SEPOLIA), { account: BUYER, value: 1n });
      for (const [header, answer] of [
        [v1PaymentHeader('base', payload), '402 invalid_network'],
        [v1PaymentHeader('nowhere', payload), '402 invalid_network'],
        [v1PaymentHeader(BASE_SEPOLIA, payload), '402 invalid_network'],
        [v1PaymentHeader('base-sepolia', payload, { scheme: 'upto' }), '402 unsupported_scheme'],
        [v1PaymentHeader('base-sepolia', {}), '402 invalid_payload'],
        [v1PaymentHeader('solana-devnet', payload), '402 invalid_payload'],
        [v1PaymentHeader('base-sepolia', less), '402 invalid_exact_evm_payload_authorization_value'],
      ] as const) {
        assert.equal(await send({ 'X-PAYMENT': header }), answer);
      }
    });

    it('is refused in PAYMENT-SIGNATURE, which is for version 2', async () => {
      const { payload } = await checkout.sign(session.id);
      const header = v1PaymentHeader('base-sepolia', payload);
      assert.equal(await send({ 'PAYMENT-SIGNATURE': header }), '402 invalid_x402_version');
    });
  });
});
