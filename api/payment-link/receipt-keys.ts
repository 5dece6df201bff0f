import { createPublicKey, hash, type KeyObject } from 'node:crypto';

/** The public halves of the keys that sign receipts and offers. */
export interface PublishedKeys {
  /** Key ids in the order of the keys. */
  ids: readonly string[];
  /** Body of `/.well-known/jwks.json`. */
  jwks: string;
  /** The same keys as a `did:web` document, which the key ids refer to. */
  didDocument: string;
}

export function publishKeys(keys: readonly KeyObject[], baseUrl: string): PublishedKeys {
  const did = didOf(baseUrl);
  const published = keys.map((key) => presentKey(key, did));
  return {
    ids: published.map(({ kid }) => kid),
    jwks: JSON.stringify({ keys: published }),
    didDocument: JSON.stringify(didDocument(did, published)),
  };
}

interface PublishedKey {
  kty: 'OKP';
  crv: 'Ed25519';
  x: string;
  kid: string;
  alg: 'EdDSA';
  use: 'sig';
}

/** The key id is the thumbprint of RFC 7638, so an id is never reused for another key. */
function presentKey(key: KeyObject, did: string): PublishedKey {
  const { x } = createPublicKey(key).export({ format: 'jwk' });
  if (x === undefined) throw new Error('a receipt key has no public half');
  const thumbprint = hash('sha256', JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }), 'base64url');
  return { kty: 'OKP', crv: 'Ed25519', x, kid: `${did}#${thumbprint}`, alg: 'EdDSA', use: 'sig' };
}

/** `did:web`: the host, its port's colon encoded, then the path's segments. */
function didOf(baseUrl: string): string {
  const { host, pathname } = new URL(baseUrl);
  const segments = pathname.split('/').filter((segment) => segment !== '');
  return ['did:web', encodeURIComponent(host), ...segments].join(':');
}

function didDocument(did: string, keys: readonly PublishedKey[]): object {
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/jws/v1'],
    id: did,
    verificationMethod: keys.map(({ kid, kty, crv, x }) => ({
      id: kid,
      type: 'JsonWebKey2020',
      controller: did,
      publicKeyJwk: { kty, crv, x },
    })),
    assertionMethod: keys.map(({ kid }) => kid),
  };
}
