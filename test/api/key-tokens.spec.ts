import assert from 'node:assert/strict';
import {
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
} from 'node:crypto';
import { mock } from 'node:test';
import { nowMs } from '../../shared/clock.js';
import { addFacilitatorKey, removeFacilitatorKey } from '../../shared/services/access/facilitator-keys.js';
import {
  assertInvalid,
  assertUnauthenticated,
  buildSigner,
  type Client,
  client,
  jwt,
  type Signer,
  signToken,
} from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { buildMerchant } from '../support/factories.js';
import { stopClockOnSecond } from '../support/stopped-clock.js';

const KEYS = '/v1/keys';

const base64url = (text: string): string => Buffer.from(text).toString('base64url');
const eddsa = (key: KeyObject) => (input: string) => sign(null, Buffer.from(input), key);

describe('agent sign-up', () => {
  let app: TestApp;
  before(async () => {
    app = await openTestApp();
  });
  after(() => app.close());
  afterEach(() => mock.restoreAll());

  const headerOf = ({ keyId }: Signer) => ({ alg: 'EdDSA', typ: 'JWT', kid: keyId });
  function claimsOf({ keyId }: Signer) {
    const iat = Math.floor(nowMs() / 1000);
    return { sub: keyId, iss: 'svc-merchant', iat, exp: iat + 120, jti: randomUUID() };
  }

  const as = (signer: Signer): Client => client(app, signToken(signer));

  describe('creates a key', () => {
    it('with a token built from an svc_sk_ secret, step by step as documented', async () => {
      const signer = await buildSigner(app.db);
      const pkcs8 = signer.privateKey.export({ type: 'pkcs8', format: 'der' });
      const secret = ` svc_sk_${pkcs8.toString('base64')}\n`;
      const der = Buffer.from(secret.trim().replace(/^svc_sk_/, ''), 'base64');
      const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
      const made = jwt(headerOf(signer), claimsOf(signer), eddsa(key));
      assert.doesNotMatch(made, /[=+/]/);
      await client(app, made).post(KEYS).expect(200);
    });
  });

  describe('refuses a token', () => {
    async function assertInvalidToken(text: string): Promise<void> {
      assertUnauthenticated(await client(app, text).post(KEYS), 'token_invalid');
    }

    it('that is missing', async () => {
      assertUnauthenticated(await client(app).post(KEYS), 'token_missing');
      for (const header of [
        '',
        'Bearer',
        'Bearer ',
        `Basic ${Buffer.from('a:').toString('base64')}`,
        'Token a',
      ]) {
        assertUnauthenticated(await client(app).post(KEYS).set('Authorization', header), 'token_missing');
      }
    });

    it('before it looks at the body', async () => {
      const malformed = await client(app).post(KEYS, '{').expect(401);
      assertUnauthenticated(malformed, 'token_missing');
      assertUnauthenticated(await client(app, 'x').post(KEYS, { foo: 1 }), 'token_invalid');
      assertInvalid(await as(await buildSigner(app.db)).post(KEYS, '{'), 'malformed_body');
    });

    it('that is no JWT', async () => {
      const valid = signToken(await buildSigner(app.db));
      const [header = '', claims = '', signature = ''] = valid.split('.');
      for (const text of [
        'x',
        'a.b',
        'a.b.c',
        '..',
        '...',
        header,
        `${header}.${claims}`,
        `${header}.${claims}.`,
        `${header}..${signature}`,
        `.${claims}.${signature}`,
        `${valid}.${signature}`,
        `${valid}.${signature}.${signature}`,
        `${base64url('[]')}.${claims}.${signature}`,
        `${base64url('null')}.${claims}.${signature}`,
        `${base64url('{')}.${claims}.${signature}`,
      ]) {
        await assertInvalidToken(text);
      }
    });

    it('that is a checkout key', async () => {
      const { liveKey } = await buildMerchant(app.db);
      await assertInvalidToken(liveKey);
    });

    it('with alg none', async () => {
      const signer = await buildSigner(app.db);
      for (const alg of ['none', 'None', 'NONE', '']) {
        await assertInvalidToken(jwt({ ...headerOf(signer), alg }, claimsOf(signer), () => ''));
        await assertInvalidToken(
          jwt({ ...headerOf(signer), alg }, claimsOf(signer), eddsa(signer.privateKey)),
        );
      }
      const { alg, ...header } = headerOf(signer);
      assert.equal(alg, 'EdDSA');
      await assertInvalidToken(jwt(header, claimsOf(signer), eddsa(signer.privateKey)));
    });

    it('with HS256 and the public key as its secret', async () => {
      const signer = await buildSigner(app.db);
      const der = signer.publicKey.export({ type: 'spki', format: 'der' });
      const pem = signer.publicKey.export({ type: 'spki', format: 'pem' });
      for (const secret of [der, der.subarray(-32), der.toString('base64'), pem]) {
        for (const [alg, hash] of [
          ['HS256', 'sha256'],
          ['HS512', 'sha512'],
        ] as const) {
          const hmac = (input: string) => createHmac(hash, secret).update(input).digest();
          await assertInvalidToken(jwt({ ...headerOf(signer), alg }, claimsOf(signer), hmac));
        }
      }
    });

    it('with ES256, or any other algorithm than EdDSA', async () => {
      const signer = await buildSigner(app.db);
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const es256 = (input: string) =>
        sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
      await assertInvalidToken(jwt({ ...headerOf(signer), alg: 'ES256' }, claimsOf(signer), es256));
      for (const alg of ['eddsa', 'Ed25519', 'RS256', 'PS256', 7, null]) {
        await assertInvalidToken(signToken(signer, {}, { alg }));
      }
    });

    it('signed by another key, registered or not', async () => {
      const signer = await buildSigner(app.db);
      const sameAccount = await buildSigner(app.db, signer.accountId);
      const otherAccount = await buildSigner(app.db);
      const { privateKey } = generateKeyPairSync('ed25519');
      for (const key of [sameAccount.privateKey, otherAccount.privateKey, privateKey]) {
        await assertInvalidToken(jwt(headerOf(signer), claimsOf(signer), eddsa(key)));
      }
    });

    it('that brings its own key along', async () => {
      const signer = await buildSigner(app.db);
      const { privateKey, publicKey } = generateKeyPairSync('ed25519');
      const jwk = publicKey.export({ format: 'jwk' });
      await assertInvalidToken(jwt({ ...headerOf(signer), jwk }, claimsOf(signer), eddsa(privateKey)));
    });

    it('that was changed after it was signed', async () => {
      const signer = await buildSigner(app.db);
      const other = await buildSigner(app.db);
      const [header = '', , signature = ''] = signToken(signer).split('.');
      await assertInvalidToken(
        `${header}.${base64url(JSON.stringify({ ...claimsOf(signer), exp: 9_999_999_999 }))}.${signature}`,
      );
      await assertInvalidToken(`${header}.${base64url(JSON.stringify(claimsOf(other)))}.${signature}`);
      const flipped = (signature[0] === 'A' ? 'B' : 'A') + signature.slice(1);
      await assertInvalidToken(`${header}.${base64url(JSON.stringify(claimsOf(signer)))}.${flipped}`);
    });

    it('whose kid is unknown, missing or no text', async () => {
      const signer = await buildSigner(app.db);
      for (const kid of [
        'unknown',
        '',
        ' ',
        7,
        null,
        true,
        [signer.keyId],
        {},
        'a\0b',
        '\ud83d',
        "' OR 1=1 --",
        '__proto__',
        'k'.repeat(5000),
      ]) {
        await assertInvalidToken(signToken(signer, {}, { kid }));
      }
      const { kid, ...header } = headerOf(signer);
      assert.equal(kid, signer.keyId);
      await assertInvalidToken(jwt(header, claimsOf(signer), eddsa(signer.privateKey)));
      await assertInvalidToken(signToken(signer, {}, { kid: signer.keyId.toUpperCase() }));
    });

    it('on the very next request after its key was removed, and takes it when it is back', async () => {
      const signer = await buildSigner(app.db);
      const api = as(signer);
      await api.post(KEYS).expect(200);
      await removeFacilitatorKey(app.db, signer, { revokeKeys: false });
      assertUnauthenticated(await api.post(KEYS), 'token_invalid');
      const publicKey = signer.publicKey.export({ type: 'spki', format: 'der' });
      await addFacilitatorKey(app.db, { accountId: signer.accountId, keyId: signer.keyId, publicKey });
      await api.post(KEYS).expect(200);
    });

    it('on the very next request after its public key was replaced', async () => {
      const signer = await buildSigner(app.db);
      const { publicKey } = generateKeyPairSync('ed25519');
      await addFacilitatorKey(app.db, {
        accountId: signer.accountId,
        keyId: signer.keyId,
        publicKey: publicKey.export({ type: 'spki', format: 'der' }),
      });
      await assertInvalidToken(signToken(signer));
    });

    it('whose sub is not its kid', async () => {
      const signer = await buildSigner(app.db);
      const sibling = await buildSigner(app.db, signer.accountId);
      for (const sub of [sibling.keyId, signer.accountId, '', null, 7, [signer.keyId], undefined]) {
        await assertInvalidToken(signToken(signer, { sub }));
      }
    });

    it('whose iss is not svc-merchant', async () => {
      const signer = await buildSigner(app.db);
      for (const iss of ['svc-facilitator', 'SVC-MERCHANT', '', ['svc-merchant'], null, undefined]) {
        await assertInvalidToken(signToken(signer, { iss }));
      }
    });

    it('without exp or iat, or with one that is no number', async () => {
      const signer = await buildSigner(app.db);
      const [iat, exp] = [Math.floor(nowMs() / 1000), Math.floor(nowMs() / 1000) + 120];
      for (const value of [undefined, null, 'soon', '', {}, true]) {
        await assertInvalidToken(signToken(signer, { iat, exp: value }));
        await assertInvalidToken(signToken(signer, { iat: value, exp }));
      }
      await assertInvalidToken(signToken(signer, { iat, exp: String(exp) }));
      await assertInvalidToken(signToken(signer, { iat: String(iat), exp }));
    });

    it('whose claims are no object', async () => {
      const signer = await buildSigner(app.db);
      for (const claims of ['[]', 'null', '"text"', '7', '', '{']) {
        await assertInvalidToken(jwt(headerOf(signer), claims, eddsa(signer.privateKey)));
      }
    });

    it('whose header demands what it does not understand', async () => {
      const signer = await buildSigner(app.db);
      await assertInvalidToken(signToken(signer, {}, { crit: ['x'], x: 1 }));
      await assertInvalidToken(signToken(signer, {}, { crit: ['b64'], b64: false }));
    });

    it('once it has expired, 30 seconds of leeway aside', async () => {
      const signer = await buildSigner(app.db);
      const now = stopClockOnSecond();
      const expiring = (exp: number) => client(app, signToken(signer, { iat: exp - 120, exp })).post(KEYS);
      await expiring(now + 1).expect(200);
      await expiring(now).expect(200);
      await expiring(now - 29).expect(200);
      assertUnauthenticated(await expiring(now - 30), 'token_expired');
      assertUnauthenticated(await expiring(now - 31), 'token_expired');
      assertUnauthenticated(await expiring(now - 86_400), 'token_expired');
      assertUnauthenticated(await expiring(0), 'token_expired');
    });

    it('whose iat lies in the future, 30 seconds of leeway aside', async () => {
      const signer = await buildSigner(app.db);
      const now = stopClockOnSecond();
      const issued = (iat: number) => signToken(signer, { iat, exp: iat + 120 });
      await client(app, issued(now + 30))
        .post(KEYS)
        .expect(200);
      await assertInvalidToken(issued(now + 31));
      await assertInvalidToken(issued(now + 86_400));
      await assertInvalidToken(issued(now * 1000));
    });

    it('that is valid for over an hour', async () => {
      const signer = await buildSigner(app.db);
      const now = stopClockOnSecond();
      await client(app, signToken(signer, { iat: now, exp: now + 3600 }))
        .post(KEYS)
        .expect(200);
      await client(app, signToken(signer, { iat: now - 3500, exp: now + 100 }))
        .post(KEYS)
        .expect(200);
      await assertInvalidToken(signToken(signer, { iat: now, exp: now + 3601 }));
      await assertInvalidToken(signToken(signer, { iat: now - 3601, exp: now }));
      await assertInvalidToken(signToken(signer, { iat: 0, exp: now + 60 }));
      await assertInvalidToken(signToken(signer, { iat: now, exp: Number.MAX_SAFE_INTEGER }));
      const endless = JSON.stringify(claimsOf(signer)).replace(/"exp":\d+/, '"exp":1e999');
      await assertInvalidToken(jwt(headerOf(signer), endless, eddsa(signer.privateKey)));
    });

    it('before its nbf, 30 seconds of leeway aside', async () => {
      const signer = await buildSigner(app.db);
      const now = stopClockOnSecond();
      await client(app, signToken(signer, { nbf: now - 60 }))
        .post(KEYS)
        .expect(200);
      await client(app, signToken(signer, { nbf: now + 30 }))
        .post(KEYS)
        .expect(200);
      await assertInvalidToken(signToken(signer, { nbf: now + 31 }));
      await assertInvalidToken(signToken(signer, { nbf: 'now' }));
    });
  });
});
