import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { canonicalize, extractJWSHeader } from '@x402/extensions/offer-receipt';
import { calculateJwkThumbprint, decodeProtectedHeader } from 'jose';
import {
  createReceiptSigner,
  type ReceiptSigner,
  receiptExtension,
} from '../../../api/payment-link/signed-receipts.js';
import type { SignedStatement } from '../../../shared/x402/wire.js';

const BASE_URL = 'https://pay.example';
const PAYMENT = {
  network: 'eip155:84532',
  payer: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  transaction: `0x${'ab'.repeat(32)}`,
  settledAt: new Date('2026-11-22T03:04:05.678Z'),
};

const newKey = (): KeyObject => generateKeyPairSync('ed25519').privateKey;

async function signedBy(signer: ReceiptSigner, payment = PAYMENT): Promise<SignedStatement> {
  const receipt = await signer.sign('cs_test_1', payment);
  assert.ok(receipt);
  return receipt;
}

/** The published key that the receipt names. */
function keyOf(signer: ReceiptSigner, receipt: SignedStatement): object {
  const { kid } = decodeProtectedHeader(receipt.signature);
  const { keys } = JSON.parse(signer.jwks) as { keys: { kid: string }[] };
  const key = keys.find((one) => one.kid === kid);
  assert.ok(key, `${kid} is not published`);
  return key;
}

/** test/flows/link/proof.spec.ts verifies them with the stock helpers and the published keys. */
describe('a signed receipt', () => {
  const keys = [newKey(), newKey()];
  const signer = createReceiptSigner(keys, BASE_URL);

  it('has a canonical payload, and a key id from the thumbprint', async () => {
    const { signature } = await signedBy(signer);
    const text = Buffer.from(signature.split('.')[1] ?? '', 'base64url').toString();
    assert.equal(text, canonicalize(JSON.parse(text)));
    const [published] = JSON.parse(signer.jwks).keys;
    const thumbprint = await calculateJwkThumbprint(published);
    assert.deepEqual(extractJWSHeader(signature), {
      alg: 'EdDSA',
      kid: `did:web:pay.example#${thumbprint}`,
    });
  });

  it('is the same on every request and in every process with the key', async () => {
    const first = await signedBy(signer);
    assert.equal(await signedBy(signer), first, 'it was signed again');
    assert.deepEqual(await signedBy(createReceiptSigner(keys, BASE_URL)), first);
  });

  it('differs between payments and sessions', async () => {
    const first = (await signedBy(signer)).signature;
    const others = [
      await signedBy(signer, { ...PAYMENT, payer: '0x1' }),
      await signedBy(signer, { ...PAYMENT, settledAt: new Date(0) }),
      await signer.sign('cs_test_2', PAYMENT),
    ].map((receipt) => receipt?.signature);
    assert.equal(new Set([first, ...others]).size, 4);
  });

  it('is correct for more payments than the cache holds', async () => {
    const first = await signedBy(signer);
    for (let i = 0; i < 1200; i += 1) await signer.sign(`cs_test_many_${i}`, PAYMENT);
    const again = await signedBy(signer);
    assert.notEqual(again, first, 'nothing was forgotten');
    assert.deepEqual(again, first);
  });

  it('is not signed for a payment without payer or time', async () => {
    for (const part of [{ payer: null }, { payer: '' }, { settledAt: null }]) {
      assert.equal(await signer.sign('cs_test_1', { ...PAYMENT, ...part }), undefined);
    }
    const { signature } = await signedBy(signer, { ...PAYMENT, transaction: null } as never);
    assert.equal(
      'transaction' in JSON.parse(Buffer.from(signature.split('.')[1] ?? '', 'base64url').toString()),
      false,
    );
  });

  it('stays verifiable while its key is published, even if another key signs', async () => {
    const [old, next] = keys as [KeyObject, KeyObject];
    const steps = [[old], [old, next], [next, old], [next]].map((ring) =>
      createReceiptSigner(ring, BASE_URL),
    );
    const [before, announced, swapped, dropped] = steps as [
      ReceiptSigner,
      ReceiptSigner,
      ReceiptSigner,
      ReceiptSigner,
    ];
    const receipts = await Promise.all(steps.map((step) => signedBy(step)));
    assert.deepEqual(receipts[0], receipts[1]);
    assert.deepEqual(receipts[2], receipts[3]);
    // A client with the key set of the step before or after finds the key.
    for (const [index, holders] of [
      [before, announced, swapped],
      [before, announced, swapped],
      [announced, swapped, dropped],
      [swapped, dropped],
    ].entries()) {
      for (const holder of holders) keyOf(holder, receipts[index] as SignedStatement);
    }
    assert.throws(() => keyOf(dropped, receipts[0] as SignedStatement), /not published/);
  });

  it('matches the schema that comes with it', async () => {
    const { info, schema } = receiptExtension(await signedBy(signer));
    const { Ajv2020 } = await import('ajv/dist/2020.js');
    assert.equal(new Ajv2020().compile(schema)(info), true);
    assert.equal(new Ajv2020().compile(schema)({}), false);
  });

  for (const [baseUrl, did] of [
    ['https://pay.example', 'did:web:pay.example'],
    ['http://localhost:3000', 'did:web:localhost%3A3000'],
    ['https://shop.example/pay/now', 'did:web:shop.example:pay:now'],
  ] as const) {
    it(`names the keys of ${baseUrl} below ${did}`, async () => {
      const own = createReceiptSigner(keys, baseUrl);
      const { kid } = decodeProtectedHeader((await signedBy(own)).signature);
      assert.equal(kid?.split('#')[0], did);
      const document = JSON.parse(own.didDocument);
      assert.equal(document.id, did);
      assert.equal(document.verificationMethod[0].id, kid);
      assert.deepEqual(
        document.assertionMethod,
        JSON.parse(own.jwks).keys.map((key: { kid: string }) => key.kid),
      );
    });
  }

  it('publishes no private key', () => {
    for (const key of JSON.parse(signer.jwks).keys)
      assert.deepEqual(Object.keys(key).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x']);
    for (const key of keys) {
      const { d = '' } = key.export({ format: 'jwk' });
      assert.equal((signer.jwks + signer.didDocument).includes(d), false);
    }
  });
});

describe('a signed offer', () => {
  const keys = [newKey(), newKey()];
  const signer = createReceiptSigner(keys, BASE_URL);
  const OFFERED = {
    resourceUrl: 'https://pay.example/c/cs_test_1',
    entry: {
      scheme: 'exact' as const,
      network: 'eip155:84532',
      amount: '4500000',
      asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
      maxTimeoutSeconds: 300,
      extra: { name: 'USDC', version: '2' },
    },
    validUntil: new Date('2026-11-22T03:04:05.678Z'),
  };
  const offer = (by: ReceiptSigner, details: Partial<typeof OFFERED> = {}): SignedStatement => {
    const statement = by.signOffer({ ...OFFERED, ...details }, 10_000);
    assert.ok(statement);
    return statement;
  };

  it('has a canonical payload', () => {
    const text = Buffer.from(offer(signer).signature.split('.')[1] ?? '', 'base64url').toString();
    assert.equal(text, canonicalize(JSON.parse(text)));
  });

  it('is the same on every request, and differs between links, entries and times', () => {
    const first = offer(signer);
    assert.equal(offer(signer), first, 'it was signed again');
    const others = [
      offer(signer, { resourceUrl: 'https://pay.example/c/cs_test_2' }),
      offer(signer, { entry: { ...OFFERED.entry, payTo: `0x${'1'.repeat(40)}` } }),
      offer(signer, { validUntil: new Date(0) }),
    ].map(({ signature }) => signature);
    assert.equal(new Set([first.signature, ...others]).size, 4);
  });

  it('is no longer than asked', () => {
    const { length } = offer(signer).signature;
    assert.ok(signer.signOffer(OFFERED, length));
    assert.equal(signer.signOffer(OFFERED, length - 1), undefined);
  });
});
