import { createPrivateKey, type KeyObject } from 'node:crypto';

/** Parses base64 PKCS#8 DER. The error for another kind of key never quotes the input. */
export function parseEd25519Key(base64: string): KeyObject {
  const der = Buffer.from(base64.trim(), 'base64');
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key is not Ed25519');
  return key;
}
