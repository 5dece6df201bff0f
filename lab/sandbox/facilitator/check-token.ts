import { createPublicKey, type KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { jwtVerify } from 'jose';

/** The key whose JWTs are accepted, as this service signs them with FACILITATOR_KEY_ID and _SECRET. */
export interface ExpectedKey {
  id: string;
  /** Ed25519, SPKI DER, base64. */
  publicKey: string;
}

export type TokenCheck = (request: IncomingMessage) => Promise<boolean>;

const ISSUER = 'svc-merchant';

/** Without a key every caller is accepted. */
export function createTokenCheck(expected: ExpectedKey | undefined): TokenCheck {
  if (expected === undefined) return async () => true;
  const der = Buffer.from(expected.publicKey, 'base64');
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return async ({ headers }) => {
    const [, token] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? [];
    return token !== undefined && (await isSignedBy(key, expected.id, token));
  };
}

async function isSignedBy(key: KeyObject, id: string, token: string): Promise<boolean> {
  try {
    const options = { issuer: ISSUER, subject: id, algorithms: ['EdDSA'], requiredClaims: ['exp', 'iat'] };
    const { protectedHeader } = await jwtVerify(token, key, options);
    return protectedHeader.kid === id;
  } catch {
    return false;
  }
}
