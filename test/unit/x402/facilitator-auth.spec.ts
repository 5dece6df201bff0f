import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { generateJwt } from '@coinbase/cdp-sdk/auth';
import { clearJwtCache, createPayAIAuthHeaders } from '@payai/facilitator';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import {
  explainSecret,
  type FacilitatorAuth,
  parseFacilitatorSecret,
} from '../../../shared/secrets/facilitator-secret.js';
import { type AuthorizedCall, createTokenSource } from '../../../shared/x402/facilitator/facilitator-auth.js';

const VERIFY = callOf('POST', '/verify');
const [ED25519, P256, P384] = [
  generateKeyPairSync('ed25519'),
  generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  generateKeyPairSync('ec', { namedCurve: 'P-384' }),
];
const DER = derOf(ED25519.privateKey);
const SECRETS = {
  svc: `svc_sk_${DER}`,
  payai: `payai_sk_${DER}`,
  ed25519: cdpSecretOf(ED25519.privateKey),
  ecdsa: pemOf(P256.privateKey, 'pkcs8'),
  sec1: pemOf(P256.privateKey, 'sec1'),
};

function callOf(method: string, path: string): AuthorizedCall {
  return { method, url: new URL(`https://api.cdp.coinbase.com/platform/v2/x402${path}`) };
}

function derOf(key: KeyObject): string {
  return key.export({ format: 'der', type: 'pkcs8' }).toString('base64');
}

function pemOf(key: KeyObject, type: 'pkcs8' | 'sec1' | 'spki'): string {
  return key.export({ format: 'pem', type }).toString();
}

function cdpSecretOf(key: KeyObject): string {
  const { d = '', x = '' } = key.export({ format: 'jwk' });
  return Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]).toString('base64');
}

async function tokenOf(auth: FacilitatorAuth, call = VERIFY): Promise<string> {
  return (await createTokenSource(auth)(call)) ?? '';
}

/** Header and claims; random values and the time of signing are named by their shape. */
function shapeOf(token: string): object {
  const { nonce, ...header } = decodeProtectedHeader(token);
  const { iat = 0, exp = 0, nbf, jti, ...claims } = decodeJwt(token);
  return {
    header,
    claims,
    lifetime: exp - iat,
    nbf: nbf === undefined ? undefined : nbf - iat,
    nonce: /^[0-9a-f]{32}$/.test(String(nonce)),
    jti: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(String(jti)),
    isNow: Math.abs(iat - Date.now() / 1000) < 60,
  };
}

/** How a facilitator judges the token at fixed times, in seconds after it was signed. */
async function judgedAt(token: string, key: KeyObject): Promise<Record<number, string>> {
  const { iat = 0 } = decodeJwt(token);
  const judged: Record<number, string> = {};
  for (const seconds of [-1, 0, 119, 120]) {
    const verified = jwtVerify(token, key, { currentDate: new Date((iat + seconds) * 1000) });
    judged[seconds] = await verified.then(
      () => 'good',
      ({ code }: { code: string }) => code,
    );
  }
  return judged;
}

describe('the token that a facilitator is called with', () => {
  afterEach(resetClock);

  it('is none, or the secret as it is', async () => {
    assert.equal(await createTokenSource({ kind: 'none' })(VERIFY), undefined);
    assert.equal(await tokenOf({ kind: 'bearer', secret: 'a.b~c' }), 'a.b~c');
  });

  it('of svc has the specified header and claims', async () => {
    const token = await tokenOf({ kind: 'svc', id: 'key-1', secret: ` ${SECRETS.svc} ` });
    assert.deepEqual(shapeOf(token), {
      header: { alg: 'EdDSA', typ: 'JWT', kid: 'key-1' },
      claims: { sub: 'key-1', iss: 'svc-merchant' },
      lifetime: 120,
      nbf: undefined,
      nonce: false,
      jti: true,
      isNow: true,
    });
    const judged = { '-1': 'good', 0: 'good', 119: 'good', 120: 'ERR_JWT_EXPIRED' };
    assert.deepEqual(await judgedAt(token, ED25519.publicKey), judged);
    const another = generateKeyPairSync('ed25519').publicKey;
    assert.equal((await judgedAt(token, another))[0], 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED');
  });

  it('of PayAI is as their package signs it', async () => {
    const token = await tokenOf({ kind: 'payai', id: 'key-1', secret: SECRETS.payai });
    clearJwtCache();
    const { verify } = await createPayAIAuthHeaders('key-1', SECRETS.payai)();
    const [scheme, theirs = ''] = Object.values(verify)[0]?.split(' ') ?? [];
    assert.equal(scheme, 'Bearer');
    assert.deepEqual(shapeOf(token), shapeOf(theirs));
    const judged = await judgedAt(token, ED25519.publicKey);
    assert.deepEqual(judged, await judgedAt(theirs, ED25519.publicKey));
    assert.deepEqual([judged[0], judged[120]], ['good', 'ERR_JWT_EXPIRED']);
  });

  const COINBASE = {
    'an Ed25519 key': [SECRETS.ed25519, SECRETS.ed25519, ED25519.publicKey],
    'an ECDSA key': [SECRETS.ecdsa, SECRETS.ecdsa, P256.publicKey],
    'an ECDSA key of the older form': [SECRETS.sec1, SECRETS.ecdsa, P256.publicKey],
    'an ECDSA key on one line': [SECRETS.ecdsa.replaceAll('\n', '\\n'), SECRETS.ecdsa, P256.publicKey],
  } as const;
  for (const [title, [secret, theirSecret, publicKey]] of Object.entries(COINBASE)) {
    for (const path of ['/verify', '/settle', '/supported']) {
      it(`of Coinbase is as their package signs it, with ${title}: ${path}`, async () => {
        const method = path === '/supported' ? 'GET' : 'POST';
        const call = callOf(method, path);
        const token = await tokenOf({ kind: 'cdp', id: 'key-1', secret }, call);
        const theirs = await generateJwt({
          apiKeyId: 'key-1',
          apiKeySecret: theirSecret,
          requestMethod: method,
          requestHost: call.url.host,
          requestPath: call.url.pathname,
        });
        assert.deepEqual(shapeOf(token), shapeOf(theirs));
        const judged = await judgedAt(token, publicKey);
        const beforeItsTime = 'ERR_JWT_CLAIM_VALIDATION_FAILED';
        assert.deepEqual(judged, { '-1': beforeItsTime, 0: 'good', 119: 'good', 120: 'ERR_JWT_EXPIRED' });
        const pair = theirSecret === SECRETS.ed25519 ? ED25519 : P256;
        assert.deepEqual(judged, await judgedAt(theirs, pair.publicKey));
        const { uris } = decodeJwt(token);
        assert.deepEqual(uris, [`${method} api.cdp.coinbase.com/platform/v2/x402${path}`]);
      });
    }
  }

  it('is reused until 30 s before its end, but each call of Coinbase has its own', async () => {
    for (const [kind, secret, isReused] of [
      ['svc', SECRETS.svc, true],
      ['payai', SECRETS.payai, true],
      ['cdp', SECRETS.ed25519, false],
    ] as const) {
      const next = createTokenSource({ kind, id: 'key-1', secret });
      const first = await next(VERIFY);
      advanceClock(85_000);
      assert.equal((await next(VERIFY)) === first, isReused, kind);
      advanceClock(6_000);
      assert.notEqual(await next(VERIFY), first, kind);
      resetClock();
    }
  });
});

describe("a facilitator's secret", () => {
  const WRONG: Record<string, [kind: 'svc' | 'payai' | 'cdp', secret: string, hint: RegExp]> = {
    "PayAI's secret for svc": ['svc', SECRETS.payai, /like a secret of PayAI \(FACILITATOR_AUTH=payai\)/],
    "svc's secret for PayAI": ['payai', SECRETS.svc, /looks like a secret of FACILITATOR_AUTH=svc/],
    "Coinbase's secret for svc": ['svc', SECRETS.ed25519, /like Coinbase's secret \(FACILITATOR_AUTH=cdp\)/],
    "Coinbase's PEM for PayAI": ['payai', SECRETS.ecdsa, /looks like Coinbase's secret/],
    "PayAI's secret for Coinbase": ['cdp', SECRETS.payai, /looks like a secret of PayAI/],
    'a key of another curve': ['cdp', pemOf(P384.privateKey, 'pkcs8'), /must be Coinbase's secret: /],
    'a public key': ['cdp', pemOf(ED25519.publicKey, 'spki'), /looks like a public key/],
    "a wallet's key": ['svc', `0x${'5a'.repeat(32)}`, /looks like a wallet's private key/],
    'a signed token': ['cdp', 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2ln', /a token that was signed already/],
    'a checkout key': ['svc', 'svc_ck_live_hunter2hunter2', /looks like a merchant's checkout key/],
    'a webhook secret': ['svc', 'whsec_hunter2hunter2', /looks like the secret of a webhook endpoint/],
    'a JSON file': ['cdp', '{"privateKey":"hunter2"}', /looks like a whole JSON file/],
    'a word': [
      'svc',
      'svc_sk_hunter2',
      /^must be svc_sk_ and a base64 Ed25519 [^;]+; what follows its svc_sk_ is no such key\.$/,
    ],
    "a word after PayAI's prefix": [
      'payai',
      'payai_sk_hunter2',
      /; what follows its payai_sk_ is no such key/,
    ],
    nothing: ['cdp', '', /must be Coinbase's secret/],
  };
  for (const [title, [kind, secret, hint]] of Object.entries(WRONG)) {
    it(`is refused by what it looks like, and never quoted: ${title}`, () => {
      const problem = explainSecret(kind, secret) ?? '';
      assert.match(problem, hint);
      assert.throws(
        () => parseFacilitatorSecret(kind, secret),
        ({ message }: Error) => secret === '' || !`${message} ${problem}`.includes(secret.slice(-12)),
      );
    });
  }

  it('may be written without its prefix', () => {
    for (const kind of ['svc', 'payai'] as const) assert.equal(explainSecret(kind, DER), undefined);
  });
});
