import { type KeyObject, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { hostNowMs } from '../process/clock.js';
import { parseFacilitatorSecret } from '../secrets/facilitator-secret.js';

const ISSUER = 'svc-merchant';
const LIFETIME_SECONDS = 120;
const RENEW_BEFORE_MS = 30_000;

export interface FacilitatorKey {
  id: string;
  /** `svc_sk_` and a base64 Ed25519 private key in PKCS#8 DER. */
  secret: string;
}

/** Returns the current token; a new one is signed 30 s before the last one expires. */
export type TokenSource = () => Promise<string>;

export function createTokenSource({ id, secret }: FacilitatorKey): TokenSource {
  const key = parseFacilitatorSecret(secret);
  let token: Promise<string> | undefined;
  let signedAtMs = 0;
  return () => {
    const ageMs = hostNowMs() - signedAtMs;
    // A negative age means that the clock was set back.
    if (token === undefined || ageMs < 0 || ageMs >= LIFETIME_SECONDS * 1000 - RENEW_BEFORE_MS) {
      signedAtMs = hostNowMs();
      token = sign(id, key);
    }
    return token;
  };
}

function sign(keyId: string, key: KeyObject): Promise<string> {
  const issuedAt = Math.floor(hostNowMs() / 1000);
  return new SignJWT()
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: keyId })
    .setSubject(keyId)
    .setIssuer(ISSUER)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + LIFETIME_SECONDS)
    .setJti(randomUUID())
    .sign(key);
}
