import { createPrivateKey, type KeyObject } from 'node:crypto';
import { parseEd25519Key } from './ed25519-key.js';

/** How a facilitator knows its callers: by a JWT of its own form, by a text that is sent as it is, or not at all. */
export const AUTH_KINDS = ['svc', 'payai', 'cdp', 'bearer', 'none'] as const;
type AuthKind = (typeof AUTH_KINDS)[number];
type SignedAuthKind = Exclude<AuthKind, 'bearer' | 'none'>;

export type FacilitatorAuth =
  | { kind: 'none' }
  /** `secret`: sent as it is. */
  | { kind: 'bearer'; secret: string }
  | { kind: SignedAuthKind; id: string; secret: string };

const PREFIXES = { svc: 'svc_sk_', payai: 'payai_sk_' } as const;
/** The length of CDP's Ed25519 secrets: the seed and the public key. */
const CDP_ED25519_BYTES = 64;
const P256 = 'prime256v1';

const EXPECTED: Record<SignedAuthKind, string> = {
  svc: 'svc_sk_ and a base64 Ed25519 private key in PKCS#8 DER',
  payai: 'payai_sk_ and a base64 Ed25519 private key in PKCS#8 DER',
  cdp: "Coinbase's secret: 64 bytes in base64 (Ed25519), or an EC private key in PEM (ECDSA, P-256)",
};

/** Throws for a secret of another kind; the error never quotes the input. */
export function parseFacilitatorSecret(kind: SignedAuthKind, secret: string): KeyObject {
  const text = secret.trim();
  if (kind === 'cdp') return parseCdpSecret(text);
  return parseEd25519Key(text.startsWith(PREFIXES[kind]) ? text.slice(PREFIXES[kind].length) : text);
}

/** The fault of a secret, without quoting it; undefined when it can be used. */
export function explainSecret(kind: SignedAuthKind, secret: string): string | undefined {
  try {
    parseFacilitatorSecret(kind, secret);
    return undefined;
  } catch {
    return `must be ${EXPECTED[kind]}${hintAt(kind, secret.trim())}.`;
  }
}

function hintAt(kind: SignedAuthKind, secret: string): string {
  if (kind !== 'cdp' && secret.startsWith(PREFIXES[kind]))
    return `; what follows its ${PREFIXES[kind]} is no such key`;
  const looks = LOOKS.find(([pattern]) => pattern.test(secret))?.[1];
  const hint = looks ?? (isCdpSecret(secret) ? "Coinbase's secret (FACILITATOR_AUTH=cdp)" : undefined);
  return hint === undefined ? '' : `; it looks like ${hint}`;
}

const LOOKS: readonly (readonly [RegExp, string])[] = [
  [/^payai_sk_/, 'a secret of PayAI (FACILITATOR_AUTH=payai)'],
  [/^svc_sk_/, 'a secret of FACILITATOR_AUTH=svc'],
  [/^svc_ck_/, "a merchant's checkout key"],
  [/^whsec_/, 'the secret of a webhook endpoint'],
  [/^-----BEGIN PUBLIC KEY/, 'a public key'],
  [/^-----BEGIN CERTIFICATE/, 'a certificate'],
  [/^ssh-|^-----BEGIN OPENSSH/, 'a key of SSH'],
  [/^eyJ[\w-]*\.[\w-]*\./, 'a token that was signed already (FACILITATOR_AUTH=bearer)'],
  [/^(?:0x)?[0-9a-f]{64}$/i, "a wallet's private key"],
  [/^\{/, 'a whole JSON file'],
];

function isCdpSecret(secret: string): boolean {
  try {
    parseCdpSecret(secret.trim());
    return true;
  } catch {
    return false;
  }
}

function parseCdpSecret(text: string): KeyObject {
  if (text.startsWith('-----BEGIN')) {
    // In the JSON file that Coinbase gives, and in many .env files, the line ends are written as \n.
    const key = createPrivateKey(text.replaceAll('\\n', '\n'));
    if (key.asymmetricKeyDetails?.namedCurve !== P256) throw new Error('the key is not of the curve P-256');
    return key;
  }
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== CDP_ED25519_BYTES) throw new Error('the secret has not 64 bytes');
  const [d, x] = [bytes.subarray(0, 32), bytes.subarray(32)].map((half) => half.toString('base64url'));
  const jwk = { kty: 'OKP', crv: 'Ed25519', d: `${d}`, x: `${x}` };
  return createPrivateKey({ key: jwk, format: 'jwk' });
}
