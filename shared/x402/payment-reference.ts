import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomInt,
  timingSafeEqual,
} from 'node:crypto';
import { EVM_WORD } from '../chains/networks/text-forms.js';

/**
 * The reference that a payment carries on its chain: 32 bytes that name the session or refund it pays. On EVM it is the
 * nonce that the page signs, on Solana the memo. It holds the id itself, encrypted and authenticated, so that one transfer
 * is told apart from strangers' without any look-up, also when Postgres has lost the session. Reading or making one takes
 * ENCRYPTION_KEY.
 *
 * Synthetic IV: 8 bytes of an HMAC over the body are tag and IV, and the body is encrypted. A guess costs a transaction fee,
 * since it must be on the chain.
 */
export interface PaymentReferences {
  /** Makes another nonce at each call. */
  nonceOf(payableId: string): `0x${string}`;
  /** `fixed`: the same at each call, for an offer that is sent again and again. */
  memoOf(payableId: string, kind: 'fixed' | 'fresh'): string;
  /** The id in a nonce or a memo; undefined when it was not made with one of the keys. */
  read(reference: string): { payableId: string; isFixed: boolean } | undefined;
}

const PREFIXES = ['cs_test_', 'cs_live_', 're_'] as const;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 28;
const TAG_BYTES = 8;
/** The number that makes two references of one payable differ, with the prefix in its two highest bits. */
const DRAW_BYTES = 3;
const DRAWS = 2 ** 22;
/** 62 ** 28 is below 2 ** 168. */
const ID_BYTES = 21;
const REFERENCE_BYTES = TAG_BYTES + DRAW_BYTES + ID_BYTES;
const MEMO = /^[\w-]{43}$/;
const PURPOSE = 'stablecoin-checkout payment reference';

/** The first key makes references, every key reads them, as with stored secrets. */
export function createPaymentReferences(encryptionKeys: readonly Buffer[]): PaymentReferences {
  const ring = encryptionKeys.map(deriveKeys);
  const [current] = ring;
  if (current === undefined) throw new Error('references need at least one key');
  const make = (payableId: string, draw: number): Buffer => seal(current, encode(payableId, draw));
  return {
    nonceOf: (payableId) => `0x${make(payableId, drawn()).toString('hex')}`,
    memoOf: (payableId, kind) => make(payableId, kind === 'fixed' ? 0 : drawn()).toString('base64url'),
    read(reference) {
      const bytes = bytesOf(reference);
      if (bytes === undefined) return undefined;
      for (const keys of ring) {
        const body = open(keys, bytes);
        if (body !== undefined) return decode(body);
      }
      return undefined;
    },
  };
}

interface Keys {
  tag: Buffer;
  body: Buffer;
}

function deriveKeys(key: Buffer): Keys {
  const derived = Buffer.from(hkdfSync('sha256', key, '', PURPOSE, 64));
  return { tag: derived.subarray(0, 32), body: derived.subarray(32) };
}

/** 0 is kept for the fixed one. */
function drawn(): number {
  return randomInt(1, DRAWS);
}

function bytesOf(reference: string): Buffer | undefined {
  if (EVM_WORD.test(reference)) return Buffer.from(reference.slice(2), 'hex');
  const bytes = MEMO.test(reference) ? Buffer.from(reference, 'base64url') : undefined;
  return bytes?.length === REFERENCE_BYTES ? bytes : undefined;
}

function seal(keys: Keys, body: Buffer): Buffer {
  const tag = tagOf(keys, body);
  const cipher = createCipheriv('aes-256-ctr', keys.body, ivOf(tag));
  return Buffer.concat([tag, cipher.update(body), cipher.final()]);
}

function open(keys: Keys, reference: Buffer): Buffer | undefined {
  const tag = reference.subarray(0, TAG_BYTES);
  const decipher = createDecipheriv('aes-256-ctr', keys.body, ivOf(tag));
  const body = Buffer.concat([decipher.update(reference.subarray(TAG_BYTES)), decipher.final()]);
  return timingSafeEqual(tagOf(keys, body), tag) ? body : undefined;
}

function tagOf({ tag }: Keys, body: Buffer): Buffer {
  return createHmac('sha256', tag).update(body).digest().subarray(0, TAG_BYTES);
}

function ivOf(tag: Buffer): Buffer {
  return Buffer.concat([tag, Buffer.alloc(16 - TAG_BYTES)]);
}

function encode(payableId: string, draw: number): Buffer {
  const kind = PREFIXES.findIndex((prefix) => payableId.startsWith(prefix));
  const digits = payableId.slice(PREFIXES[kind]?.length ?? 0);
  if (kind < 0 || !/^[0-9A-Za-z]{28}$/.test(digits)) throw new Error(`${payableId} cannot be referred to`);
  let number = 0n;
  for (const digit of digits) number = number * 62n + BigInt(DIGITS.indexOf(digit));
  const body = Buffer.alloc(DRAW_BYTES + ID_BYTES);
  body.writeUIntBE(kind * DRAWS + draw, 0, DRAW_BYTES);
  body.write(number.toString(16).padStart(ID_BYTES * 2, '0'), DRAW_BYTES, 'hex');
  return body;
}

function decode(body: Buffer): { payableId: string; isFixed: boolean } | undefined {
  const head = body.readUIntBE(0, DRAW_BYTES);
  const prefix = PREFIXES[Math.floor(head / DRAWS)];
  let number = BigInt(`0x${body.toString('hex', DRAW_BYTES)}`);
  let digits = '';
  for (let length = 0; length < ID_LENGTH; length += 1) {
    digits = (DIGITS[Number(number % 62n)] ?? '') + digits;
    number /= 62n;
  }
  return prefix === undefined ? undefined : { payableId: prefix + digits, isFixed: head % DRAWS === 0 };
}
