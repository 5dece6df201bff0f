import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import {
  decodeSignedOffers,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  findAcceptsObjectFromSignedOffer,
  type JWSSignedOffer,
  type JWSSignedReceipt,
  type ReceiptPayload,
  verifyOfferSignatureJWS,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureJWS,
} from '@x402/extensions/offer-receipt';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { createRemoteJWKSet, type JWK } from 'jose';
import { failsToSettle } from '../../../lab/world/facilitator/dial.js';
import type { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import { unixSeconds } from '../../../shared/wire/timestamp.js';
import { BUYER, type Checkout, openCheckout, X_LAYER_TESTNET } from '../../support/checkout.js';
import { answerOf, decodeHeader, receiptOf } from '../../support/link-answers.js';

const newKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');

describe('a signed receipt', () => {
  let front: Server;
  let baseUrl: string;
  let checkout: Checkout;
  before(async () => {
    // The base address has to be known before the service starts, because receipts contain it.
    front = createServer((req, res) => checkout.app.server.emit('request', req, res));
    await new Promise<void>((resolve) => front.listen(0, 'localhost', resolve));
    baseUrl = `http://localhost:${(front.address() as AddressInfo).port}`;
    const RECEIPT_SIGNING_KEYS = `${newKey()},${newKey()}`;
    checkout = await openCheckout({ environment: { BASE_URL: baseUrl, RECEIPT_SIGNING_KEYS } });
  });
  afterEach(() => {
    resetClock();
    checkout.facilitator.settle.honest();
  });
  after(async () => {
    front.closeAllConnections();
    await new Promise((resolve) => front.close(resolve));
    await checkout.close();
  });

  const linkOf = ({ id }: CheckoutSession): string => `${baseUrl}/c/${id}`;

  async function publishedKeys(): Promise<(JWK & { kid: string })[]> {
    const response = await fetch(`${baseUrl}/.well-known/jwks.json`);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
    assert.match(response.headers.get('cache-control') ?? '', /public, max-age=/);
    return JSON.parse(await response.text()).keys;
  }

  /** Verifies with the receipt and the published key set only. */
  async function verify(receipt: unknown): Promise<ReceiptPayload> {
    const [key] = await publishedKeys();
    return await verifyReceiptSignatureJWS(receipt as JWSSignedReceipt, key as never);
  }

  async function payWithFetch(session: CheckoutSession): Promise<Response> {
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(BUYER));
    client.setSpendControls({ maxAmountPerPayment: '$100' });
    return await wrapFetchWithPayment(fetch, client)(linkOf(session));
  }

  async function offersOf(path: string): Promise<JWSSignedOffer[]> {
    const required = await checkout.quote(path);
    return extractOffersFromPaymentRequired(required as never) as JWSSignedOffer[];
  }

  it('is in the answer that @x402/fetch gets; the stock helper verifies it alone, and with the published keys', async () => {
    const session = await checkout.buildSession();
    const response = await payWithFetch(session);
    const body = JSON.parse(await response.text());
    const receipt = extractReceiptFromResponse(response);
    assert.equal(receipt?.format, 'jws');
    assert.deepEqual(body.receipt, receipt);
    const { settledAt } = await checkout.payment(session.id);
    assert.deepEqual(await verify(receipt), {
      version: 1,
      network: 'eip155:84532',
      resourceUrl: linkOf(session),
      payer: BUYER.address,
      transaction: checkout.facilitator.ledger.at(-1)?.transaction,
      issuedAt: Math.floor((settledAt?.getTime() ?? 0) / 1000),
    });
    assert.equal(body.session.payment.settled_at, (await verify(receipt)).issuedAt);
    const signed = receipt as JWSSignedReceipt;
    assert.deepEqual(
      await verifyReceiptSignatureJWS(signed),
      await verify(signed),
      'with the key that it names',
    );
    const find = createRemoteJWKSet(new URL(`${baseUrl}/.well-known/jwks.json`));
    const [head = ''] = signed.signature.split('.');
    const header = JSON.parse(Buffer.from(head, 'base64url').toString());
    assert.ok(await verifyReceiptSignatureJWS(signed, (await find(header)) as never));
    assert.equal((await publishedKeys()).length, 2);
  });

  it('has its DID document at both addresses of did:web, and the key set is read-only', async () => {
    const [below, wellKnown] = await Promise.all(
      ['/did.json', '/.well-known/did.json'].map(async (path) => await (await fetch(baseUrl + path)).text()),
    );
    assert.equal(below, wellKnown);
    const head = await fetch(`${baseUrl}/.well-known/jwks.json`, { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, '']);
    assert.equal((await fetch(`${baseUrl}/.well-known/jwks.json`, { method: 'POST' })).status, 405);
  });

  it("matches the signed offer by the stock helper's comparison", async () => {
    const session = await checkout.buildSession();
    const [offer] = decodeSignedOffers(await offersOf(session.id));
    const receipt = extractReceiptFromResponse(await payWithFetch(session));
    assert.ok(receipt && offer);
    assert.equal(verifyReceiptMatchesOffer(receipt, offer, [BUYER.address]), true);
    assert.equal(verifyReceiptMatchesOffer(receipt, offer, [`0x${'1'.repeat(40)}`]), false);
  });

  describe('before it, a 402', () => {
    it('has signed offers that the stock helpers verify and find in `accepts`', async () => {
      const session = await checkout.buildSession();
      const { accepts } = await checkout.quote(session.id);
      const offers = await offersOf(session.id);
      assert.equal(offers.length, 4);
      assert.deepEqual(await offersOf(session.id), offers);
      const [key] = await publishedKeys();
      for (const [index, offer] of decodeSignedOffers(offers).entries()) {
        assert.equal(findAcceptsObjectFromSignedOffer(offer, accepts as never), accepts[index]);
        const signed = offer.signedOffer as JWSSignedOffer;
        const verified = await verifyOfferSignatureJWS(signed, key as never);
        assert.deepEqual(await verifyOfferSignatureJWS(signed), verified, 'with the key that it names');
        const { scheme, network, amount, asset, payTo } = accepts[index] ?? assert.fail();
        assert.deepEqual(verified, {
          ...{ version: 1, resourceUrl: linkOf(session), validUntil: unixSeconds(session.expiresAt) },
          ...{ scheme, network, amount, asset, payTo },
        });
      }
    });

    it('has the offer of the entry that was asked for', async () => {
      const { id } = await checkout.buildSession();
      const [offer, ...others] = decodeSignedOffers(
        await offersOf(`${id}?network=${X_LAYER_TESTNET}&token=USDG`),
      );
      assert.deepEqual([offer?.network, others.length], [X_LAYER_TESTNET, 0]);
    });
  });

  it('is the same bytes on every later GET, on the page and for a repeated payment', async () => {
    const session = await checkout.buildSession();
    const payment = await checkout.sign(session.id);
    const headers = { 'PAYMENT-SIGNATURE': payment.header };
    const first = await checkout.visit(session.id, headers);
    assert.equal(answerOf(first), '200 complete');
    advanceClock(5000);
    const later = await checkout.visit(session.id);
    assert.equal(later.text, first.text);
    const again = await checkout.visit(session.id, headers);
    assert.equal(answerOf(again), '409 session_already_paid');
    const page = await checkout.visit(session.id, { Accept: 'text/html' });
    const other = await checkout.visit(session.id, {
      'PAYMENT-SIGNATURE': (await anotherPayment()).header,
    });
    const { extensions: _, ...ofVersion1 } = receiptOf(first) ?? {};
    for (const answer of [later, again, page]) {
      assert.equal(answer.get('PAYMENT-RESPONSE'), first.get('PAYMENT-RESPONSE'));
      assert.deepEqual(decodeHeader(answer.get('X-PAYMENT-RESPONSE') ?? ''), ofVersion1);
    }
    assert.equal(other.get('PAYMENT-RESPONSE'), undefined);
  });

  const anotherPayment = async () => await checkout.sign((await checkout.buildSession()).id);

  it('is not made for a 402, a page or a failed payment', async () => {
    const { receipts } = checkout.app;
    const { sign } = receipts;
    const asked: string[] = [];
    receipts.sign = (id, payment) => {
      asked.push(id);
      return sign(id, payment);
    };
    try {
      const session = await checkout.buildSession();
      await checkout.quote(session.id);
      await checkout.visit(session.id, { Accept: 'text/html' });
      checkout.facilitator.settle.next(failsToSettle('kyt_risk_detected'));
      const failed = await checkout.pay(session.id);
      assert.equal(answerOf(failed), '402 kyt_risk_detected');
      assert.deepEqual(Object.keys(receiptOf(failed) ?? {}).sort(), [
        'errorReason',
        'network',
        'payer',
        'success',
        'transaction',
      ]);
      assert.deepEqual(asked, []);
    } finally {
      receipts.sign = sign;
    }
  });

  it('contains none of the merchant’s private fields', async () => {
    const session = await checkout.buildSession({
      metadata: { order: 'only-for-the-merchant' },
      clientReferenceId: 'only-for-the-merchant',
      customerEmail: 'only-for-the-merchant@example.com',
      cancelUrl: 'https://shop.example/not-in-a-receipt',
      successUrl: 'https://shop.example/not-in-a-receipt',
    });
    const res = await checkout.pay(session.id);
    const signed = Buffer.from(res.body.receipt.signature.split('.')[1], 'base64url').toString();
    const header = Buffer.from(res.get('PAYMENT-RESPONSE') ?? '', 'base64').toString();
    assert.doesNotMatch(res.text + header + signed, /only-for-the-merchant/);
    assert.doesNotMatch(header + signed, /not-in-a-receipt/);
    const names = Object.keys(JSON.parse(signed)).sort();
    assert.deepEqual(names, ['issuedAt', 'network', 'payer', 'resourceUrl', 'transaction', 'version']);
  });

  it("is less than 2 KiB as a header, so that it fits twice into common proxies' limits", async () => {
    const res = await checkout.pay((await checkout.buildSession()).id);
    assert.ok((res.get('PAYMENT-RESPONSE') ?? '').length < 2048);
  });

  it('is absent without a signing key, and the key set is empty', async () => {
    // Either checkout's worker may settle the payment, so both have one facilitator.
    const plain = await openCheckout({ environment: { FACILITATOR_URL: checkout.facilitator.url } });
    try {
      const { id } = await plain.buildSession();
      const res = await plain.pay(id);
      assert.deepEqual(Object.keys(res.body), ['status', 'session']);
      assert.deepEqual(Object.keys(receiptOf(res) ?? {}), ['success', 'transaction', 'network', 'payer']);
      const { port } = plain.app;
      const keys = await fetch(`http://127.0.0.1:${port}/.well-known/jwks.json`);
      assert.deepEqual([keys.status, JSON.parse(await keys.text())], [200, { keys: [] }]);
      const document = await fetch(`http://127.0.0.1:${port}/.well-known/did.json`);
      assert.equal(document.status, 200);
    } finally {
      await plain.close();
    }
  });
});
