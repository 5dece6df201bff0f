import { type KeyObject, sign as signBytes } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import { lruCache } from '../../shared/limits/lru-cache.js';
import { paymentLinkUrl } from '../../shared/payables/payment-link-url.js';
import type { Payment } from '../../shared/payments/model.js';
import { unixSeconds } from '../../shared/wire/timestamp.js';
import type { PaymentRequirements, ReceiptExtension, SignedStatement } from '../../shared/x402/wire.js';
import { type PublishedKeys, publishKeys } from './receipt-keys.js';

/**
 * x402's extension `offer-receipt`: signed statements that can be verified without this service. A receipt says that a
 * payment paid this link, and no more than PAYMENT-RESPONSE does; an offer says what the link asks for. Both depend on
 * their content and the key only, so they are the same on every request. The first key signs; the others stay published
 * to verify older statements.
 */
export interface ReceiptSigner extends Pick<PublishedKeys, 'jwks' | 'didDocument'> {
  /** Undefined without a key, or when the payer is unknown. */
  sign(sessionId: string, payment: SettledPayment): SignedStatement | undefined;
  /** Undefined without a key, or when the signature would be longer. */
  signOffer(offer: Offered, maxLength: number): SignedStatement | undefined;
}

type SettledPayment = Pick<Payment, 'network' | 'payer' | 'transaction' | 'settledAt'>;

interface Offered {
  /** The link. */
  resourceUrl: string;
  entry: PaymentRequirements;
  validUntil: Date;
}

/** An Ed25519 signature of 64 bytes, in base64 without padding. */
const SIGNATURE_LENGTH = base64Length(64);
/** A process remembers this many signed statements: a link that is asked for again answers with the same one. */
const REMEMBERED = 500;

export function createReceiptSigner(keys: readonly KeyObject[], baseUrl: string): ReceiptSigner {
  const { ids, jwks, didDocument } = publishKeys(keys, baseUrl);
  const [key] = keys;
  const header = encode(JSON.stringify({ alg: 'EdDSA', kid: ids[0] }));
  const receipts: Remembered = lruCache(REMEMBERED);
  const offers: Remembered = lruCache(REMEMBERED);

  /** Signs in this thread: some 50 µs, no more than it takes to hand it to another. */
  function signPayload(payload: string, remembered: Remembered): SignedStatement | undefined {
    if (key === undefined) return undefined;
    const known = remembered.get(payload);
    if (known !== undefined) return known;
    const input = `${header}.${encode(payload)}`;
    const signature = `${input}.${signBytes(null, Buffer.from(input), key).toString('base64url')}`;
    const signed: SignedStatement = { format: 'jws', signature };
    remembered.set(payload, signed);
    return signed;
  }

  return {
    sign(sessionId, payment) {
      const payload = receiptPayload(paymentLinkUrl(sessionId, baseUrl), payment);
      return payload === undefined ? undefined : signPayload(payload, receipts);
    },
    signOffer(offer, maxLength) {
      if (key === undefined) return undefined;
      const payload = offerPayload(offer);
      const length =
        header.length + base64Length(Buffer.byteLength(payload)) + SIGNATURE_LENGTH + '..'.length;
      return length > maxLength ? undefined : signPayload(payload, offers);
    },
    jwks,
    didDocument,
  };
}

type Remembered = LRUCache<string, SignedStatement>;

function encode(text: string): string {
  return Buffer.from(text).toString('base64url');
}

function base64Length(bytes: number): number {
  return Math.ceil((bytes * 4) / 3);
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

/** Canonical JSON (RFC 8785): members sorted by name. */
function offerPayload({ resourceUrl, entry, validUntil }: Offered): string {
  const { amount, asset, network, payTo, scheme } = entry;
  return JSON.stringify({
    amount,
    asset,
    network,
    payTo,
    resourceUrl,
    scheme,
    validUntil: unixSeconds(validUntil),
    version: 1,
  });
}

/** The value in `extensions` of PAYMENT-RESPONSE. */
export function receiptExtension(receipt: SignedStatement): ReceiptExtension {
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
