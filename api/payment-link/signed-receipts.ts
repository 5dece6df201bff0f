import { createPublicKey, hash, type KeyObject } from 'node:crypto';
import { CompactSign } from 'jose';
import { LRUCache } from 'lru-cache';
import { sessionUrl } from '../../shared/checkout-sessions/present.js';
import type { Payment } from '../../shared/payments/model.js';
import { unixSeconds } from '../../shared/wire/timestamp.js';
import type { ReceiptExtension, SignedReceipt } from '../../shared/x402/wire.js';

/**
 * x402's extension `offer-receipt`: a signed statement that this payment paid this link, which can be verified
 * without this service. It depends on the payment and the key only, so it is the same on every request, and says no
 * more than PAYMENT-RESPONSE. The first key signs; the others stay published to verify older receipts.
 */
export interface ReceiptSigner {
  /** Undefined without a key, or when the payer is unknown. */
  sign(sessionId: string, payment: SettledPayment): Promise<SignedReceipt | undefined>;
  /** Body of `/.well-known/jwks.json`. */
  jwks: string;
  /** The same keys as a `did:web` document, which the key id of a receipt refers to. */
  didDocument: string;
}

type SettledPayment = Pick<Payment, 'network' | 'payer' | 'transaction' | 'settledAt'>;

/** Polling a paid link returns the receipt that was signed first. */
const REMEMBERED = 500;

export function createReceiptSigner(keys: readonly KeyObject[], baseUrl: string): ReceiptSigner {
  const did = didOf(baseUrl);
  const publicKeys = keys.map((key) => presentKey(key, did));
  const [key] = keys;
  const [current] = publicKeys;
  const signed = new LRUCache<string, SignedReceipt>({ max: REMEMBERED });

  async function signText(payload: string): Promise<SignedReceipt | undefined> {
    if (key === undefined || current === undefined) return undefined;
    const header = { alg: 'EdDSA', kid: current.kid };
    const jws = await new CompactSign(new TextEncoder().encode(payload)).setProtectedHeader(header).sign(key);
    const receipt: SignedReceipt = { format: 'jws', signature: jws };
    signed.set(payload, receipt);
    return receipt;
  }

  return {
    async sign(sessionId, payment) {
      const payload = key && receiptPayload(sessionUrl(sessionId, baseUrl), payment);
      return payload === undefined ? undefined : (signed.get(payload) ?? (await signText(payload)));
    },
    jwks: JSON.stringify({ keys: publicKeys }),
    didDocument: JSON.stringify(didDocument(did, publicKeys)),
  };
}

/** Canonical JSON (RFC 8785): members sorted by name. */
function receiptPayload(
  resourceUrl: string,
  { network, payer, transaction, settledAt }: SettledPayment,
): string | undefined {
  if (!payer || settledAt === null) return undefined;
  return JSON.stringify({
    issuedAt: unixSeconds(settledAt),
    network,
    payer,
    resourceUrl,
    ...(transaction !== null && { transaction }),
    version: 1,
  });
}

/** The value in `extensions` of PAYMENT-RESPONSE. */
export function receiptExtension(receipt: SignedReceipt): ReceiptExtension {
  return { info: { receipt }, schema: RECEIPT_SCHEMA };
}

const RECEIPT_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    receipt: {
      type: 'object',
      properties: { format: { type: 'string', const: 'jws' }, signature: { type: 'string' } },
      required: ['format', 'signature'],
    },
  },
  required: ['receipt'],
};

interface PublishedKey {
  kty: 'OKP';
  crv: 'Ed25519';
  x: string;
  kid: string;
  alg: 'EdDSA';
  use: 'sig';
}

/** The key id is the thumbprint of RFC 7638, so an id is never reused for another key. */
function presentKey(key: KeyObject, did: string): PublishedKey {
  const { x } = createPublicKey(key).export({ format: 'jwk' });
  if (x === undefined) throw new Error('a receipt key has no public half');
  const thumbprint = hash('sha256', JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }), 'base64url');
  return { kty: 'OKP', crv: 'Ed25519', x, kid: `${did}#${thumbprint}`, alg: 'EdDSA', use: 'sig' };
}

/** `did:web`: the host, its port's colon encoded, then the path's segments. */
function didOf(baseUrl: string): string {
  const { host, pathname } = new URL(baseUrl);
  const segments = pathname.split('/').filter((segment) => segment !== '');
  return ['did:web', encodeURIComponent(host), ...segments].join(':');
}

function didDocument(did: string, keys: readonly PublishedKey[]): object {
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/jws/v1'],
    id: did,
    verificationMethod: keys.map(({ kid, kty, crv, x }) => ({
      id: kid,
      type: 'JsonWebKey2020',
      controller: did,
      publicKeyJwk: { kty, crv, x },
    })),
    assertionMethod: keys.map(({ kid }) => kid),
  };
}
