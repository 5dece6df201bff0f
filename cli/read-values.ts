import { createPublicKey } from 'node:crypto';
import { MAX_KEY_ID_LENGTH } from '../shared/accounts/facilitator-keys.js';
import { whyNoPublicKey } from '../shared/secrets/ed25519-point.js';
import { UsageError } from './parse-command-line.js';

export function parseKeyName(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : readText(text, '--name', 100);
}

/** The id of a facilitator key, as `kid` and `sub` of a token name it. */
export function parseKeyId(text: string): string {
  return readText(text, '--key-id', MAX_KEY_ID_LENGTH);
}

/** A text of one line. */
export function readText(text: string, option: string, maxLength: number): string {
  const isPlain = text.trim() !== '' && text.isWellFormed() && !/\p{Cc}/u.test(text);
  if (!isPlain || [...text].length > maxLength) {
    throw new UsageError(`${option} must be 1 to ${maxLength} characters of text.`);
  }
  return text;
}

export function parseMode(text: string | undefined): 'live' | 'test' {
  if (text === 'live' || text === 'test') return text;
  throw new UsageError(`--mode must be live or test; it is "${text}".`);
}

/** The 12 bytes that make 32 raw bytes an Ed25519 key in SPKI DER. */
const ED25519_SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Base64 of an Ed25519 public key, as SPKI DER or as its raw 32 bytes; stored as DER. */
export function parsePublicKey(text: string | undefined): Buffer {
  const bytes = Buffer.from(text ?? '', 'base64');
  const der = bytes.length === 32 ? Buffer.concat([ED25519_SPKI_PREFIX, bytes]) : bytes;
  if (isEd25519(der)) {
    const fault = whyNoPublicKey(der.subarray(-32));
    if (fault === undefined) return der;
    throw new UsageError(`--public-key is no public key: its bytes are ${fault}. Copy the key again.`);
  }
  throw new UsageError('--public-key must be an Ed25519 public key in base64: SPKI DER or the raw 32 bytes.');
}

function isEd25519(der: Buffer): boolean {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' }).asymmetricKeyType === 'ed25519';
  } catch {
    return false;
  }
}
