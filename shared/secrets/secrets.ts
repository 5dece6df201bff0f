import {
  createCipheriv,
  createDecipheriv,
  createHash,
  hash,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/**
 * Secrets that must be readable again (webhook secrets, stored answers with a secret) are stored as
 * `<key id>.<nonce>.<ciphertext and tag>` with AES-256-GCM. The first key of the ring encrypts and every key decrypts,
 * so an operator rotates keys by adding a new one in front. Secrets that are only compared (checkout keys) are stored
 * as SHA-256.
 */
export interface SecretBox {
  seal(plain: string): string;
  open(sealed: string): string;
  /** Whether the secret was sealed with the first key. */
  isCurrent(sealed: string): boolean;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createSecretBox(keys: readonly Buffer[]): SecretBox {
  const ring = new Map(keys.map((key) => [keyId(key), key]));
  const [first] = ring;
  if (first === undefined) throw new Error('an encryption key ring needs at least one key');
  const [currentId, currentKey] = first;
  return {
    seal(plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', currentKey, nonce);
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${currentId}.${nonce.toString('base64url')}.${sealed.toString('base64url')}`;
    },
    open(sealed) {
      const [id = '', nonce = '', body = ''] = sealed.split('.');
      const key = ring.get(id);
      if (key === undefined)
        throw new Error(`a stored secret was encrypted with key ${id}, which ENCRYPTION_KEY lacks`);
      const bytes = Buffer.from(body, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      return decipher.update(bytes.subarray(0, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    },
    isCurrent: (sealed) => sealed.startsWith(`${currentId}.`),
  };
}

/** Undefined when the secret's key is not in the ring, or the value was tampered with. */
export function openIfPossible(box: SecretBox, sealed: string): string | undefined {
  try {
    return box.open(sealed);
  } catch {
    return undefined;
  }
}

export function sha256(text: string | Buffer): Buffer {
  return Buffer.from(sha256Base64(text), 'base64');
}

export function sha256Base64(text: string | Buffer): string {
  return hash('sha256', text, 'base64');
}

function keyId(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8);
}

/** Compares in constant time. */
export function secretsMatch(sent: string, expected: string): boolean {
  return timingSafeEqual(sha256(sent), sha256(expected));
}

export function bearerMatches(authorization: string | undefined, token: string): boolean {
  return secretsMatch(/^Bearer +(.*)$/i.exec(authorization ?? '')?.[1] ?? '', token);
}
