import assert from 'node:assert/strict';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { x402Client } from '@x402/fetch';
import request from 'supertest';
import { altered } from '../../../lab/world/facilitator/dial.js';
import type { FacilitatorOptions } from '../../../lab/world/facilitator/facilitator.js';
import { EVM_WALLET, SOLANA_WALLET } from '../../../lab/world/shop/factories.js';
import { updateAccount } from '../../../shared/accounts/accounts.js';
import type { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import { newId } from '../../../shared/values/ids.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import {
  BASE_SEPOLIA,
  BUYER,
  type Checkout,
  findEntry,
  SOLANA_DEVNET,
  UNTOUCHED,
  X_LAYER_TESTNET,
} from '../../support/checkout.js';
import { declarePaymentIdentifier, decodeHeader } from '../../support/link-answers.js';
import { FEE_PAYER, openQuotes } from '../../support/quotes.js';

const SOLANA_MAINNET = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
/** The entries of a test session: network, asset, and on EVM the EIP-712 domain's name and version. */
const TEST_OFFER = [
  ['eip155:84532', '0x036CbD53842c5426634e7929541eC2318f3dCF7e', 'USDC', '2'],
  [SOLANA_DEVNET, '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'],
  ['eip155:80002', '0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582', 'USDC', '2'],
  ['eip155:421614', '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d', 'USD Coin', '2'],
  ['eip155:43113', '0x5425890298aed601595a70AB815c96711a31Bc65', 'USD Coin', '2'],
  ['eip155:1952', '0xcB8BF24c6cE16Ad21D707c9505421a17f2bec79D', 'USDC_TEST', '2'],
  ['eip155:1328', '0x4fCF1784B31630811181f670Aea7A7bEF803eaED', 'USDC', '2'],
  ['eip155:11155420', '0x5fd84259d66Cd46123540766Be93DFE6D43130D7', 'USDC', '2'],
  ['eip155:11155111', '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238', 'USDC', '2'],
  ['eip155:1952', '0x9e29b3AaDa05Bf2D2c827Af80Bd28Dc0b9b4FB0c', 'USD₮0', '1'],
  [SOLANA_DEVNET, '4F6PM96JJxngmHnZLBh9n58RH4aTVNWvDs2nuwrT5BP7'],
  ['eip155:1952', '0xA78E2baaBaf5c4f36b7Fc394725Deb68D332EeC1', 'Global Dollar', '1'],
];

describe("a link's payment requirements", () => {
  let checkout: Checkout;

  async function open(options?: FacilitatorOptions): Promise<void> {
    checkout = await openQuotes(options);
  }

  async function quoteNew(overrides: Partial<CheckoutSession> = {}): Promise<readonly PaymentRequirements[]> {
    const { id } = await checkout.buildSession(overrides);
    return (await checkout.quote(id)).accepts;
  }

  afterEach(async () => {
    resetClock();
    await checkout.close();
  });

  it('are a complete PaymentRequired, in the body and in the header', async () => {
    await open({ networks: [BASE_SEPOLIA] });
    const { id, expiresAt } = await checkout.buildSession();
    const res = await checkout.visit(id);
    assert.equal(res.status, 402);
    const expected = {
      x402Version: 2,
      error: 'Payment required',
      resource: {
        url: `https://pay.example/c/${id}`,
        description: `$4.50 to Cafe Pocket for Coffee, payable until ${expiresAt.toISOString().slice(0, 19)}Z. Stock x402 clients pay at most $1 until told client.setSpendControls({ maxAmountPerPayment: '$4.50' }).`,
        mimeType: 'application/json',
        serviceName: 'Cafe Pocket',
        tags: ['checkout', 'test'],
      },
      accepts: [
        {
          scheme: 'exact',
          network: BASE_SEPOLIA,
          amount: '4500000',
          asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
          payTo: EVM_WALLET,
          maxTimeoutSeconds: 300,
          extra: { name: 'USDC', version: '2', primaryType: 'TransferWithAuthorization' },
        },
      ],
      extensions: declarePaymentIdentifier(),
    };
    assert.deepEqual(res.body, expected);
    assert.deepEqual(decodeHeader(res.get('PAYMENT-REQUIRED') ?? ''), expected);
    assert.equal(res.get('PAYMENT-RESPONSE'), undefined);
  });

  it('change nothing when they are read, and cost one call of /supported', async () => {
    await open();
    const session = await checkout.buildSession();
    for (let visits = 0; visits < 3; visits += 1) await checkout.visit(session.id);
    const { supported, verify, settle } = checkout.facilitator.calls;
    assert.deepEqual([supported.length, verify.length, settle.length], [1, 0, 0]);
    assert.deepEqual(await checkout.state(session.id), UNTOUCHED);
  });

  it('hold none of the merchant’s private fields', async () => {
    await open();
    const session = await checkout.buildSession({
      metadata: { order: 'only-for-the-merchant' },
      clientReferenceId: 'only-for-the-merchant',
      customerEmail: 'only-for-the-merchant@example.com',
      // The page that a buyer is sent to after payment is for the payer only, not for readers of the link.
      successUrl: 'https://shop.example/only-for-the-payer',
    });
    const agent = await checkout.visit(session.id);
    const page = await checkout.visit(session.id, { Accept: 'text/html' });
    const headers = JSON.stringify(agent.headers) + JSON.stringify(page.headers);
    const response = agent.text + decodeText(agent.get('PAYMENT-REQUIRED')) + page.text + headers;
    assert.doesNotMatch(response, /only-for-the/);
  });

  it('are the same at each visit, for agents and for the page', async () => {
    await open();
    const { id } = await checkout.buildSession();
    const first = await checkout.quote(id);
    advanceClock(1_800_000);
    assert.deepEqual(await checkout.quote(id), first);
    const page = await checkout.visit(id, { Accept: 'text/html' });
    assert.equal(page.status, 200);
    assert.deepEqual(await checkout.quote(id), first);
  });

  for (const [cents, limit] of [
    [450, '$4.50'],
    [99_999_999, '$999999.99'],
  ] as const) {
    it(`tell a stock client the spending limit for ${limit}: with it the client pays, without it it refuses`, async () => {
      await open({ networks: [BASE_SEPOLIA] });
      const { id } = await checkout.buildSession({ amountTotalCents: cents });
      const required = await checkout.quote(id);
      const advised = /client\.setSpendControls\((\{[^}]+\})\)/.exec(
        required.resource.description ?? '',
      )?.[1];
      assert.equal(advised, `{ maxAmountPerPayment: '${limit}' }`);
      const client = new x402Client().register('eip155:*', new ExactEvmScheme(BUYER));
      const pay = (): Promise<unknown> => client.createPaymentPayload(structuredClone(required) as never);
      await assert.rejects(pay(), /spendControls\.maxAmountPerPayment/);
      client.setSpendControls({ maxAmountPerPayment: limit });
      assert.ok(await pay());
    });
  }

  it('tell a stock client how to pay in a token that its list does not have', async () => {
    await open({ networks: [X_LAYER_TESTNET] });
    const { id } = await checkout.buildSession();
    const required = await checkout.quote(id);
    assert.match(required.resource.description ?? '', /\(\{ allowedAssets: \[\{ network, asset \}\] \}\)\.$/);
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(BUYER));
    const pay = (): Promise<unknown> => client.createPaymentPayload(structuredClone(required) as never);
    await assert.rejects(pay(), /spendControls\.allowedAssets/);
    const { network, asset } = findEntry(required.accepts, X_LAYER_TESTNET);
    client.setSpendControls({ allowedAssets: [{ network: network as 'eip155:1952', asset }] });
    assert.ok(await pay());
  });

  it("come with Link headers to the API description, the text for agents and the session's status", async () => {
    await open();
    const { id } = await checkout.buildSession();
    const always = '</openapi.json>; rel="service-desc", </llms.txt>; rel="service-doc"';
    const own = `${always}, </c/${id}/status>; rel="monitor"`;
    assert.equal((await checkout.visit(id)).get('Link'), own);
    assert.equal((await checkout.visit(id, { 'PAYMENT-SIGNATURE': '!' })).get('Link'), own);
    const answers = await Promise.all([checkout.visit(newId('cs_test_')), checkout.send('put', id)]);
    for (const answer of answers) assert.equal(answer.get('Link'), always);
    const [, path = ''] = /<([^>]+)>; rel="monitor"/.exec(own) ?? [];
    const status = await request(checkout.app.server).get(path).expect(200);
    assert.equal(status.body.status, 'open');
    assert.match((await checkout.visit(id)).get('Access-Control-Expose-Headers') ?? '', /\bLink\b/);
  });

  describe('offer', () => {
    it('a test session’s tokens, USDC first', async () => {
      await open();
      const accepts = await quoteNew();
      const offered = accepts.map(({ network, asset, extra }) =>
        'name' in extra ? [network, asset, extra.name, extra.version] : [network, asset],
      );
      assert.deepEqual(offered, TEST_OFFER);
      for (const { scheme, amount, payTo, network, extra, maxTimeoutSeconds } of accepts) {
        const isSolana = network === SOLANA_DEVNET;
        assert.deepEqual([scheme, amount, maxTimeoutSeconds], ['exact', '4500000', 300]);
        assert.equal(payTo, isSolana ? SOLANA_WALLET : EVM_WALLET);
        if (!isSolana) continue;
        assert.deepEqual(Object.keys(extra), ['feePayer', 'memo']);
        assert.equal('feePayer' in extra && extra.feePayer, FEE_PAYER);
      }
    });

    it('a live session’s tokens on main networks only, at most 20 of them in a header of less than 9 KiB', async () => {
      await open();
      // The longest names in bytes.
      const { accountId } = checkout.merchant;
      await updateAccount(checkout.app.db, accountId, { name: '🥐'.repeat(100) });
      const { lineItems = [] } = await checkout.buildSession();
      const session = await checkout.buildSession({
        livemode: true,
        // The most that can be paid on Solana; the most that a session can cost has as many digits.
        amountTotalCents: 1_844_674_407_370_955,
        lineItems: lineItems.map((item) => ({ ...item, name: '🥐'.repeat(250), quantity: 999_999 })),
      });
      const res = await checkout.visit(session.id);
      const networks: string[] = res.body.accepts.map(({ network }: PaymentRequirements) => network);
      assert.equal(networks.length, 20);
      assert.deepEqual(networks.slice(0, 3), ['eip155:8453', SOLANA_MAINNET, 'eip155:137']);
      assert.equal(networks.filter((network) => TEST_OFFER.some(([test]) => test === network)).length, 0);
      assert.ok((res.get('PAYMENT-REQUIRED') ?? '').length < 9 * 1024);
    });

    it('no token twice, and no network or scheme that is missing from the table', async () => {
      await open();
      checkout.facilitator.supported.always(
        altered({
          kinds: [
            { x402Version: 2, scheme: 'exact', network: BASE_SEPOLIA },
            { x402Version: 2, scheme: 'exact', network: BASE_SEPOLIA },
            { x402Version: 2, scheme: 'exact', network: 'eip155:424242' },
            { x402Version: 2, scheme: 'upto', network: 'eip155:80002' },
            { x402Version: 1, scheme: 'exact', network: 'eip155:43113' },
            { x402Version: 1, scheme: 'exact', network: 'avalanche-fuji' },
            null,
            'exact',
            { x402Version: 2, scheme: 'exact', network: 7 },
          ],
        }),
      );
      assert.deepEqual(
        (await quoteNew()).map(({ network }) => network),
        [BASE_SEPOLIA],
      );
    });

    it('only the networks that the facilitator lists', async () => {
      await open({ networks: [X_LAYER_TESTNET, SOLANA_DEVNET] });
      const networks = (await quoteNew()).map(({ network }) => network);
      assert.deepEqual(networks, [
        SOLANA_DEVNET,
        X_LAYER_TESTNET,
        X_LAYER_TESTNET,
        SOLANA_DEVNET,
        X_LAYER_TESTNET,
      ]);
    });

    it('only the families for which the merchant now has a wallet', async () => {
      await open();
      const session = await checkout.buildSession();
      const { accountId } = checkout.merchant;
      await updateAccount(checkout.app.db, accountId, { evmWallet: null });
      assert.deepEqual(
        new Set((await checkout.quote(session.id)).accepts.map(({ network }) => network)),
        new Set([SOLANA_DEVNET]),
      );
      const another = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
      await updateAccount(checkout.app.db, accountId, { evmWallet: another, solanaWallet: null });
      const { accepts } = await checkout.quote(session.id);
      assert.equal(accepts.length, 10);
      assert.ok(accepts.every(({ payTo }) => payTo === another));
    });
  });
});

function decodeText(header: string | undefined): string {
  return Buffer.from(header ?? '', 'base64').toString('utf8');
}
