import { isUtf8 } from 'node:buffer';
import { isJsonObject, type JsonObject, parseJsonObject } from '../values/json-object.js';
import { readPaymentIdentifier } from './payment-identifier.js';

/**
 * The x402 headers. A buyer's header is read into one of four forms, without throwing: `malformed` is answered 400,
 * `other_version` 402. `match-payment` finds the entry that it pays and parses the payload for that entry's network.
 */
export type WellFormedHeader =
  | { kind: 'v2'; accepted: JsonObject; payload: JsonObject; identifier?: string }
  | { kind: 'v1'; scheme: string; network: string; payload: JsonObject }
  | { kind: 'other_version' };

export type DecodedHeader = WellFormedHeader | { kind: 'malformed'; reason: string };

interface PaymentHeaders {
  paymentSignature: string | undefined;
  xPayment: string | undefined;
}

const MAX_HEADER_LENGTH = 16 * 1024;
/** Standard or URL-safe alphabet. Padding may be absent but not partial. */
const BASE64 = /^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}(?:==)?|[A-Za-z0-9+/_-]{3}=?)?$/;

/** Padded standard base64: the stock client refuses the URL-safe alphabet. */
export function encodeHeader(value: object): string {
  return encodeHeaderText(JSON.stringify(value));
}

/** Encodes a JSON text, like `encodeHeader`. */
export function encodeHeaderText(json: string): string {
  return Buffer.from(json).toString('base64');
}

/** PAYMENT-SIGNATURE takes precedence; only X-PAYMENT may carry version 1. Undefined without either header. */
export function readPaymentHeader(headers: PaymentHeaders): DecodedHeader | undefined {
  if (headers.paymentSignature !== undefined) {
    const decoded = decodePaymentHeader(headers.paymentSignature);
    return decoded.kind === 'v1' ? { kind: 'other_version' } : decoded;
  }
  return headers.xPayment === undefined ? undefined : decodePaymentHeader(headers.xPayment);
}

export function decodePaymentHeader(text: string): DecodedHeader {
  const encoded = text.trim();
  if (encoded.length > MAX_HEADER_LENGTH)
    return malformed(`It is longer than ${MAX_HEADER_LENGTH} characters.`);
  if (!BASE64.test(encoded)) return malformed('It is not base64.');
  const bytes = Buffer.from(encoded, 'base64');
  const value = isUtf8(bytes) ? parseJsonObject(bytes.toString('utf8')) : undefined;
  return value === undefined ? malformed('It is not base64 of a JSON object.') : readVersions(value);
}

function readVersions(value: JsonObject): DecodedHeader {
  const { x402Version, accepted, scheme, network, payload, extensions } = value;
  if (typeof x402Version !== 'number') return malformed('`x402Version` is missing or not a number.');
  if (!isJsonObject(payload)) return malformed('`payload` is missing or not an object.');
  if (x402Version === 1 && typeof scheme === 'string' && typeof network === 'string') {
    return { kind: 'v1', scheme, network, payload };
  }
  if (x402Version === 1 && accepted === undefined)
    return malformed(`\`${typeof scheme === 'string' ? 'network' : 'scheme'}\` is missing or not a string.`);
  if (!isJsonObject(accepted)) return malformed('`accepted` is missing or not an object.');
  if (x402Version !== 2) return { kind: 'other_version' };
  const identifier = readPaymentIdentifier(extensions);
  if (!identifier.ok) return malformed(identifier.reason);
  return { kind: 'v2', accepted, payload, ...(identifier.id !== undefined && { identifier: identifier.id }) };
}

function malformed(reason: string): DecodedHeader {
  return { kind: 'malformed', reason };
}
