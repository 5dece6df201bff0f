import { type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { hostNowMs } from '../../process/clock.js';
import { type FacilitatorAuth, parseFacilitatorSecret } from '../../secrets/facilitator-secret.js';

const LIFETIME_SECONDS = 120;
const RENEW_BEFORE_MS = 30_000;
const ISSUERS = { svc: 'svc-merchant', payai: 'payai-merchant' } as const;

export interface AuthorizedCall {
  method: string;
  url: URL;
}

/** The bearer token of a call; undefined when none is sent. */
type TokenSource = (call: AuthorizedCall) => Promise<string | undefined>;

export function createTokenSource(auth: FacilitatorAuth): TokenSource {
  switch (auth.kind) {
    case 'none':
      return async () => undefined;
    case 'bearer':
      return async () => auth.secret;
    case 'cdp':
      return signEachCall(auth.id, parseFacilitatorSecret('cdp', auth.secret));
    case 'svc':
    case 'payai':
      return signForAWhile(ISSUERS[auth.kind], auth.id, parseFacilitatorSecret(auth.kind, auth.secret));
  }
}

/** Signs one token for all calls, and a new one 30 s before the last one expires. */
function signForAWhile(issuer: string, keyId: string, key: KeyObject): TokenSource {
  let token: Promise<string> | undefined;
  let signedAtMs = 0;
  return () => {
    const ageMs = hostNowMs() - signedAtMs;
    // A negative age means that the clock was set back.
    if (token === undefined || ageMs < 0 || ageMs >= LIFETIME_SECONDS * 1000 - RENEW_BEFORE_MS) {
      signedAtMs = hostNowMs();
      token = begin(keyId, issuer)
        .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: keyId })
        .setJti(randomUUID())
        .sign(key);
    }
    return token;
  };
}

/** Coinbase's tokens name the call, so each call has its own. */
function signEachCall(keyId: string, key: KeyObject): TokenSource {
  const alg = key.asymmetricKeyType === 'ed25519' ? 'EdDSA' : 'ES256';
  return async ({ method, url: { host, pathname } }) => {
    const jwt = begin(keyId, 'cdp', { uris: [`${method} ${host}${pathname}`] });
    const nonce = randomBytes(16).toString('hex');
    return await jwt
      .setNotBefore(nowSeconds())
      .setProtectedHeader({ alg, kid: keyId, typ: 'JWT', nonce })
      .sign(key);
  };
}

function begin(keyId: string, issuer: string, claims: Record<string, unknown> = {}): SignJWT {
  const issuedAt = nowSeconds();
  return new SignJWT(claims)
    .setSubject(keyId)
    .setIssuer(issuer)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + LIFETIME_SECONDS);
}

function nowSeconds(): number {
  return Math.floor(hostNowMs() / 1000);
}
