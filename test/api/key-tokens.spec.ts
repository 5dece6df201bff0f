import assert from 'node:assert/strict';
import { createHmac, createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { buildMerchant } from '../../lab/world/shop/factories.js';
import { addFacilitatorKey, removeFacilitatorKey } from '../../shared/accounts/facilitator-keys.js';
import { assertInvalidToken } from '../support/agent-keys.js';
import {
  assertInvalid,
  assertUnauthenticated,
  buildSigner,
  type Client,
  claimsOf,
  client,
  eddsa,
  headerOf,
  jwt,
  type Signer,
  signToken,
} from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';

const KEYS = '/v1/keys';

const base64url = (text: string): string => Buffer.from(text).toString('base64url');

describe('agent sign-up', () => {
  const app = forAllTests(openTestApp);

  const as = (signer: Signer): Client => client(app, signToken(signer));

  describe('accepts a token', () => {
    it('built from an svc_sk_ secret as documented', async () => {
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

    it('before it reads the body', async () => {
      const malformed = await client(app).post(KEYS, '{').expect(401);
      assertUnauthenticated(malformed, 'token_missing');
      assertUnauthenticated(await client(app, 'x').post(KEYS, { foo: 1 }), 'token_invalid');
      assertInvalid(await as(await buildSigner(app.db)).post(KEYS, '{'), 'malformed_body');
    });

    it('that is not a JWT', async () => {
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
        await assertInvalidToken(app, text);
      }
    });

    it('that is a checkout key', async () => {
      const { liveKey } = await buildMerchant(app.db);
      await assertInvalidToken(app, liveKey);
    });

    it('with alg none', async () => {
      const signer = await buildSigner(app.db);
      for (const alg of ['none', 'None', 'NONE', '']) {
        await assertInvalidToken(
          app,
          jwt({ ...headerOf(signer), alg }, claimsOf(signer), () => ''),
        );
        await assertInvalidToken(
          app,
          jwt({ ...headerOf(signer), alg }, claimsOf(signer), eddsa(signer.privateKey)),
        );
      }
      const { alg, ...header } = headerOf(signer);
      assert.equal(alg, 'EdDSA');
      await assertInvalidToken(app, jwt(header, claimsOf(signer), eddsa(signer.privateKey)));
    });

    it('with HS256 and the public key as secret', async () => {
      const signer = await buildSigner(app.db);
      const der = signer.publicKey.export({ type: 'spki', format: 'der' });
      const pem = signer.publicKey.export({ type: 'spki', format: 'pem' });
      for (const secret of [der, der.subarray(-32), der.toString('base64'), pem]) {
        for (const [alg, hash] of [
          ['HS256', 'sha256'],
          ['HS512', 'sha512'],
        ] as const) {
          const hmac = (input: string) => createHmac(hash, secret).update(input).digest();
          await assertInvalidToken(app, jwt({ ...headerOf(signer), alg }, claimsOf(signer), hmac));
        }
      }
    });

    it('with ES256 or any other algorithm than EdDSA', async () => {
      const signer = await buildSigner(app.db);
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const es256 = (input: string) =>
        sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
      await assertInvalidToken(app, jwt({ ...headerOf(signer), alg: 'ES256' }, claimsOf(signer), es256));
      for (const alg of ['eddsa', 'Ed25519', 'RS256', 'PS256', 7, null]) {
        await assertInvalidToken(app, signToken(signer, {}, { alg }));
      }
    });

    it('signed by another key, registered or not', async () => {
      const signer = await buildSigner(app.db);
      const sameAccount = await buildSigner(app.db, signer.accountId);
      const otherAccount = await buildSigner(app.db);
      const { privateKey } = generateKeyPairSync('ed25519');
      for (const key of [sameAccount.privateKey, otherAccount.privateKey, privateKey]) {
        await assertInvalidToken(app, jwt(headerOf(signer), claimsOf(signer), eddsa(key)));
      }
    });

    it('that anyone can sign, because an earlier release registered a key of small order', async () => {
      const signer = await buildSigner(app.db);
      const identity = Buffer.alloc(32);
      identity[0] = 1;
      const prefix = signer.publicKey.export({ type: 'spki', format: 'der' }).subarray(0, -32);
      const { accountId, keyId } = signer;
      await addFacilitatorKey(app.db, { accountId, keyId, publicKey: Buffer.concat([prefix, identity]) });
      const forge = (): Buffer => Buffer.concat([identity, Buffer.alloc(32)]);
      await assertInvalidToken(app, jwt(headerOf(signer), claimsOf(signer), forge));
    });

    it('with an embedded key', async () => {
      const signer = await buildSigner(app.db);
      const { privateKey, publicKey } = generateKeyPairSync('ed25519');
      const jwk = publicKey.export({ format: 'jwk' });
      await assertInvalidToken(app, jwt({ ...headerOf(signer), jwk }, claimsOf(signer), eddsa(privateKey)));
    });

    it('that was modified after signing', async () => {
      const signer = await buildSigner(app.db);
      const other = await buildSigner(app.db);
      const [header = '', , signature = ''] = signToken(signer).split('.');
      await assertInvalidToken(
        app,
        `${header}.${base64url(JSON.stringify({ ...claimsOf(signer), exp: 9_999_999_999 }))}.${signature}`,
      );
      await assertInvalidToken(app, `${header}.${base64url(JSON.stringify(claimsOf(other)))}.${signature}`);
      const flipped = (signature[0] === 'A' ? 'B' : 'A') + signature.slice(1);
      await assertInvalidToken(app, `${header}.${base64url(JSON.stringify(claimsOf(signer)))}.${flipped}`);
    });

    it('whose kid is unknown, missing or not a valid text', async () => {
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
        await assertInvalidToken(app, signToken(signer, {}, { kid }));
      }
      const { kid, ...header } = headerOf(signer);
      assert.equal(kid, signer.keyId);
      await assertInvalidToken(app, jwt(header, claimsOf(signer), eddsa(signer.privateKey)));
      await assertInvalidToken(app, signToken(signer, {}, { kid: signer.keyId.toUpperCase() }));
    });

    it('on the next request after its key was removed, and accepts it when the key is registered again', async () => {
      const signer = await buildSigner(app.db);
      const api = as(signer);
      await api.post(KEYS).expect(200);
      await removeFacilitatorKey(app.db, signer, { revokeKeys: false });
      assertUnauthenticated(await api.post(KEYS), 'token_invalid');
      const publicKey = signer.publicKey.export({ type: 'spki', format: 'der' });
      await addFacilitatorKey(app.db, { accountId: signer.accountId, keyId: signer.keyId, publicKey });
      await api.post(KEYS).expect(200);
    });

    it('on the next request after its public key was replaced', async () => {
      const signer = await buildSigner(app.db);
      const { publicKey } = generateKeyPairSync('ed25519');
      await addFacilitatorKey(app.db, {
        accountId: signer.accountId,
        keyId: signer.keyId,
        publicKey: publicKey.export({ type: 'spki', format: 'der' }),
      });
      await assertInvalidToken(app, signToken(signer));
    });
  });
});
