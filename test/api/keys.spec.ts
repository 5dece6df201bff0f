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
import { lowestIdAt, randomText } from '../../shared/ids.js';
import { ApiKey } from '../../shared/models/api-key.js';
import { IdempotencyRecord } from '../../shared/models/idempotency-record.js';
import { sha256 } from '../../shared/secrets.js';
import { createApiKey, revokeApiKey } from '../../shared/services/access/api-keys.js';
import { addFacilitatorKey, removeFacilitatorKey } from '../../shared/services/access/facilitator-keys.js';
import {
  assertInvalid,
  assertRefusal,
  assertUnauthenticated,
  buildSigner,
  type Client,
  client,
  jwt,
  type Signer,
  signToken,
} from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { buildMerchant, EVM_WALLET, SOLANA_WALLET } from '../support/factories.js';

const KEYS = '/v1/keys';
const HOUR_MS = 3_600_000;

const base64url = (text: string): string => Buffer.from(text).toString('base64url');
const eddsa = (key: KeyObject) => (input: string) => sign(null, Buffer.from(input), key);

describe('agent sign-up', () => {
  let app: TestApp;
  before(async () => {
    app = await openTestApp();
  });
  after(() => app.close());
  afterEach(() => mock.restoreAll());

  async function newSigner(accountId?: string): Promise<Signer> {
    return await buildSigner(app.db, accountId ?? (await buildMerchant(app.db)).accountId);
  }

  const headerOf = ({ keyId }: Signer) => ({ alg: 'EdDSA', typ: 'JWT', kid: keyId });
  function claimsOf({ keyId }: Signer) {
    const iat = Math.floor(nowMs() / 1000);
    return { sub: keyId, iss: 'svc-merchant', iat, exp: iat + 120, jti: randomUUID() };
  }

  const as = (signer: Signer): Client => client(app, signToken(signer));

  /** The clock stands still on a whole second until the end of the test. */
  function stopClock(): number {
    const seconds = Math.ceil(nowMs() / 1000);
    const offset = nowMs() - Date.now();
    mock.method(Date, 'now', () => seconds * 1000 - offset);
    return seconds;
  }

  async function insertKeys(signer: Signer, count: number, madeAtMs: number): Promise<void> {
    const rows = Array.from({ length: count }, () => ({
      id: `${lowestIdAt('key_', madeAtMs)}${randomText(20)}`,
      accountId: signer.accountId,
      livemode: true,
      name: 'Earlier',
      secretSha256: sha256(randomUUID()),
      facilitatorKeyId: signer.keyId,
      revokedAt: null,
    }));
    await ApiKey.query(app.db).insert(rows);
  }

  function assertTooMany(res: Parameters<typeof assertRefusal>[0]): void {
    assertRefusal(res, 429, { type: 'invalid_request_error', code: 'rate_limit' });
  }

  describe('creates a key', () => {
    it('that is live and called Agent key when nothing else is asked for', async () => {
      const signer = await newSigner();
      const { body } = await as(signer).post(KEYS).expect(200);
      const { id, secret, created, ...rest } = body;
      assert.match(id, /^key_[A-Za-z0-9]{20,}$/);
      assert.match(secret, /^svc_ck_live_[A-Za-z0-9]{32,}$/);
      assert.ok(Number.isSafeInteger(created));
      assert.deepEqual(rest, {
        object: 'api_key',
        name: 'Agent key',
        livemode: true,
        payout_wallets: { evm: EVM_WALLET, solana: SOLANA_WALLET },
      });
    });

    const bodies: [
      what: string,
      send: (api: Client) => ReturnType<Client['post']>,
      name: string,
      livemode: boolean,
    ][] = [
      ['{}', (api) => api.post(KEYS, {}), 'Agent key', true],
      ['null for both', (api) => api.post(KEYS, { livemode: null, name: null }), 'Agent key', true],
      ["'' for both", (api) => api.post(KEYS, { livemode: '', name: '' }), 'Agent key', true],
      ['an empty form', (api) => api.form(KEYS, ''), 'Agent key', true],
      ['livemode=&name=', (api) => api.form(KEYS, 'livemode=&name='), 'Agent key', true],
      ['livemode false', (api) => api.post(KEYS, { livemode: false }), 'Agent key', false],
      ['livemode=false', (api) => api.form(KEYS, 'livemode=false'), 'Agent key', false],
      ['livemode true', (api) => api.post(KEYS, { livemode: true }), 'Agent key', true],
      ['livemode=true', (api) => api.form(KEYS, 'livemode=true'), 'Agent key', true],
      ['a name', (api) => api.post(KEYS, { name: 'Einkäufer 🥐' }), 'Einkäufer 🥐', true],
      ['a name in a form', (api) => api.form(KEYS, { name: 'A & B', livemode: false }), 'A & B', false],
    ];
    for (const [what, send, name, livemode] of bodies) {
      it(`from ${what}`, async () => {
        const { body } = await send(as(await newSigner())).expect(200);
        assert.deepEqual([body.name, body.livemode], [name, livemode]);
        assert.match(body.secret, livemode ? /^svc_ck_live_/ : /^svc_ck_test_/);
      });
    }

    it('that works at once, on the same account and in its mode', async () => {
      const signer = await newSigner();
      for (const livemode of [true, false]) {
        const { body } = await as(signer).post(KEYS, { livemode }).expect(200);
        const line = { price_data: { unit_amount: 1, product_data: { name: 'A' } } };
        const session = await client(app, body.secret).post('/v1/checkout/sessions', { line_items: [line] });
        assert.equal(session.status, 200, session.text);
        assert.equal(session.body.livemode, livemode);
        const row = await ApiKey.query(app.db).findById(body.id).throwIfNotFound();
        assert.equal(row.accountId, signer.accountId);
      }
    });

    it('whose secret is kept nowhere', async () => {
      const { body } = await as(await newSigner())
        .post(KEYS)
        .expect(200);
      const { rows } = await app.db.raw('SELECT api_keys::text AS row FROM api_keys WHERE id = ?', [body.id]);
      assert.ok(!rows[0].row.includes(body.secret.slice('svc_ck_live_'.length)));
    });

    it('for an account without wallets, and says so', async () => {
      const { accountId } = await buildMerchant(app.db, { evmWallet: null, solanaWallet: null });
      const { body } = await as(await newSigner(accountId))
        .post(KEYS)
        .expect(200);
      assert.deepEqual(body.payout_wallets, { evm: null, solana: null });
    });

    it('with a token built from an svc_sk_ secret, step by step as documented', async () => {
      const signer = await newSigner();
      const pkcs8 = signer.privateKey.export({ type: 'pkcs8', format: 'der' });
      const secret = ` svc_sk_${pkcs8.toString('base64')}\n`;
      const der = Buffer.from(secret.trim().replace(/^svc_sk_/, ''), 'base64');
      const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
      const made = jwt(headerOf(signer), claimsOf(signer), eddsa(key));
      assert.doesNotMatch(made, /[=+/]/);
      await client(app, made).post(KEYS).expect(200);
    });

    it('more than once from one token', async () => {
      const api = as(await newSigner());
      const [first, second] = [await api.post(KEYS).expect(200), await api.post(KEYS).expect(200)];
      assert.notEqual(first.body.secret, second.body.secret);
    });

    it('from every registered key of an account', async () => {
      const one = await newSigner();
      const two = await newSigner(one.accountId);
      for (const signer of [one, two]) {
        const { body } = await as(signer).post(KEYS).expect(200);
        const row = await ApiKey.query(app.db).findById(body.id).throwIfNotFound();
        assert.deepEqual([row.accountId, row.facilitatorKeyId], [one.accountId, signer.keyId]);
      }
    });
  });

  describe('refuses the parameters', () => {
    const refused: [code: string, param: string, json: object | undefined, form: string | undefined][] = [
      ['parameter_invalid', 'livemode', { livemode: 'false' }, undefined],
      ['parameter_invalid', 'livemode', { livemode: 0 }, 'livemode=0'],
      ['parameter_invalid', 'livemode', { livemode: [] }, 'livemode=False'],
      ['parameter_invalid', 'livemode', undefined, 'livemode[]=false'],
      ['parameter_invalid', 'livemode', undefined, 'livemode=true&livemode=false'],
      ['parameter_invalid', 'name', { name: 7 }, 'name[a]=b'],
      ['parameter_invalid_string', 'name', { name: 'a\0' }, 'name=a%00'],
      ['parameter_invalid_string', 'name', { name: '\ud83d' }, undefined],
      ['parameter_unknown', 'account', { account: 'acct_1' }, 'account=acct_1'],
      ['parameter_unknown', 'scopes', { scopes: [] }, 'scopes[]=a'],
    ];
    for (const [code, param, json, form] of refused) {
      it(`${[json && JSON.stringify(json), form].filter(Boolean).join(' and ')}`, async () => {
        const signer = await newSigner();
        if (json !== undefined) assertInvalid(await as(signer).post(KEYS, json), code, param);
        if (form !== undefined) assertInvalid(await as(signer).form(KEYS, form), code, param);
        assert.equal(await ApiKey.query(app.db).where({ facilitatorKeyId: signer.keyId }).resultSize(), 0);
      });
    }

    it('in the query', async () => {
      assertInvalid(
        await as(await newSigner()).post(`${KEYS}?livemode=false`),
        'parameter_unknown',
        'livemode',
      );
    });

    it('name: takes 100 characters, refuses 101', async () => {
      const api = as(await newSigner());
      for (const send of ['post', 'form'] as const) {
        const name = '🥐'.repeat(100);
        assert.equal((await api[send](KEYS, { name }).expect(200)).body.name, name);
        assertInvalid(await api[send](KEYS, { name: `${name}!` }), 'parameter_invalid_string', 'name');
      }
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
      assertInvalid(await as(await newSigner()).post(KEYS, '{'), 'malformed_body');
    });

    it('that is no JWT', async () => {
      const valid = signToken(await newSigner());
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
      const signer = await newSigner();
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
      const signer = await newSigner();
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
      const signer = await newSigner();
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const es256 = (input: string) =>
        sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
      await assertInvalidToken(jwt({ ...headerOf(signer), alg: 'ES256' }, claimsOf(signer), es256));
      for (const alg of ['eddsa', 'Ed25519', 'RS256', 'PS256', 7, null]) {
        await assertInvalidToken(signToken(signer, {}, { alg }));
      }
    });

    it('signed by another key, registered or not', async () => {
      const signer = await newSigner();
      const sameAccount = await newSigner(signer.accountId);
      const otherAccount = await newSigner();
      const { privateKey } = generateKeyPairSync('ed25519');
      for (const key of [sameAccount.privateKey, otherAccount.privateKey, privateKey]) {
        await assertInvalidToken(jwt(headerOf(signer), claimsOf(signer), eddsa(key)));
      }
    });

    it('that brings its own key along', async () => {
      const signer = await newSigner();
      const { privateKey, publicKey } = generateKeyPairSync('ed25519');
      const jwk = publicKey.export({ format: 'jwk' });
      await assertInvalidToken(jwt({ ...headerOf(signer), jwk }, claimsOf(signer), eddsa(privateKey)));
    });

    it('that was changed after it was signed', async () => {
      const signer = await newSigner();
      const other = await newSigner();
      const [header = '', , signature = ''] = signToken(signer).split('.');
      await assertInvalidToken(
        `${header}.${base64url(JSON.stringify({ ...claimsOf(signer), exp: 9_999_999_999 }))}.${signature}`,
      );
      await assertInvalidToken(`${header}.${base64url(JSON.stringify(claimsOf(other)))}.${signature}`);
      const flipped = (signature[0] === 'A' ? 'B' : 'A') + signature.slice(1);
      await assertInvalidToken(`${header}.${base64url(JSON.stringify(claimsOf(signer)))}.${flipped}`);
    });

    it('whose kid is unknown, missing or no text', async () => {
      const signer = await newSigner();
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
      const signer = await newSigner();
      const api = as(signer);
      await api.post(KEYS).expect(200);
      await removeFacilitatorKey(app.db, signer.accountId, signer.keyId);
      assertUnauthenticated(await api.post(KEYS), 'token_invalid');
      const publicKey = signer.publicKey.export({ type: 'spki', format: 'der' });
      await addFacilitatorKey(app.db, { accountId: signer.accountId, keyId: signer.keyId, publicKey });
      await api.post(KEYS).expect(200);
    });

    it('on the very next request after its public key was replaced', async () => {
      const signer = await newSigner();
      const { publicKey } = generateKeyPairSync('ed25519');
      await addFacilitatorKey(app.db, {
        accountId: signer.accountId,
        keyId: signer.keyId,
        publicKey: publicKey.export({ type: 'spki', format: 'der' }),
      });
      await assertInvalidToken(signToken(signer));
    });

    it('whose sub is not its kid', async () => {
      const signer = await newSigner();
      const sibling = await newSigner(signer.accountId);
      for (const sub of [sibling.keyId, signer.accountId, '', null, 7, [signer.keyId], undefined]) {
        await assertInvalidToken(signToken(signer, { sub }));
      }
    });

    it('whose iss is not svc-merchant', async () => {
      const signer = await newSigner();
      for (const iss of ['svc-facilitator', 'SVC-MERCHANT', '', ['svc-merchant'], null, undefined]) {
        await assertInvalidToken(signToken(signer, { iss }));
      }
    });

    it('without exp or iat, or with one that is no number', async () => {
      const signer = await newSigner();
      const [iat, exp] = [Math.floor(nowMs() / 1000), Math.floor(nowMs() / 1000) + 120];
      for (const value of [undefined, null, 'soon', '', {}, true]) {
        await assertInvalidToken(signToken(signer, { iat, exp: value }));
        await assertInvalidToken(signToken(signer, { iat: value, exp }));
      }
      await assertInvalidToken(signToken(signer, { iat, exp: String(exp) }));
      await assertInvalidToken(signToken(signer, { iat: String(iat), exp }));
    });

    it('whose claims are no object', async () => {
      const signer = await newSigner();
      for (const claims of ['[]', 'null', '"text"', '7', '', '{']) {
        await assertInvalidToken(jwt(headerOf(signer), claims, eddsa(signer.privateKey)));
      }
    });

    it('whose header demands what it does not understand', async () => {
      const signer = await newSigner();
      await assertInvalidToken(signToken(signer, {}, { crit: ['x'], x: 1 }));
      await assertInvalidToken(signToken(signer, {}, { crit: ['b64'], b64: false }));
    });

    it('once it has expired, 30 seconds of leeway aside', async () => {
      const signer = await newSigner();
      const now = stopClock();
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
      const signer = await newSigner();
      const now = stopClock();
      const issued = (iat: number) => signToken(signer, { iat, exp: iat + 120 });
      await client(app, issued(now + 30))
        .post(KEYS)
        .expect(200);
      await assertInvalidToken(issued(now + 31));
      await assertInvalidToken(issued(now + 86_400));
      await assertInvalidToken(issued(now * 1000));
    });

    it('that is valid for over an hour', async () => {
      const signer = await newSigner();
      const now = stopClock();
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
      const signer = await newSigner();
      const now = stopClock();
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

  describe('allows 10 keys an hour and account', () => {
    it('over both modes and all facilitator keys, and says when to come back', async () => {
      const one = await newSigner();
      const two = await newSigner(one.accountId);
      for (let i = 0; i < 10; i++) {
        await as(i % 3 === 0 ? one : two)
          .post(KEYS, { livemode: i % 2 === 0 })
          .expect(200);
      }
      for (const signer of [one, two]) {
        for (const livemode of [true, false]) assertTooMany(await as(signer).post(KEYS, { livemode }));
      }
      await as(await newSigner())
        .post(KEYS)
        .expect(200);
    });

    it('and the next one exactly an hour after the tenth last', async () => {
      const signer = await newSigner();
      const now = stopClock() * 1000;
      await insertKeys(signer, 3, now - 3_000_000);
      await insertKeys(signer, 7, now - 1000);
      const res = await as(signer).post(KEYS);
      assertTooMany(res);
      assert.equal(res.get('Retry-After'), '600');
    });

    it('not counting keys that are an hour old', async () => {
      const signer = await newSigner();
      const now = stopClock() * 1000;
      await insertKeys(signer, 20, now - HOUR_MS - 1);
      await insertKeys(signer, 9, now - HOUR_MS + 1000);
      await as(signer).post(KEYS).expect(200);
      const res = await as(signer).post(KEYS);
      assertTooMany(res);
      assert.equal(res.get('Retry-After'), '1');
    });

    it('counting keys that were revoked meanwhile', async () => {
      const signer = await newSigner();
      await insertKeys(signer, 9, nowMs());
      const { body } = await as(signer).post(KEYS).expect(200);
      await revokeApiKey(app.db, body.id);
      assertTooMany(await as(signer).post(KEYS));
    });

    it('not counting keys that the operator made', async () => {
      const signer = await newSigner();
      for (let i = 0; i < 12; i++) {
        await createApiKey(app.db, { accountId: signer.accountId, livemode: i % 2 === 0, name: 'Operator' });
      }
      await as(signer).post(KEYS).expect(200);
    });

    it('not counting requests that were refused', async () => {
      const signer = await newSigner();
      await insertKeys(signer, 9, nowMs());
      for (let i = 0; i < 3; i++) {
        assertInvalid(await as(signer).post(KEYS, { name: 7 }), 'parameter_invalid', 'name');
      }
      await as(signer).post(KEYS).expect(200);
    });

    it('also when 20 come at once after nine: exactly one is made', async () => {
      const signer = await newSigner();
      await insertKeys(signer, 9, nowMs());
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => as(signer).post(KEYS, { livemode: i % 2 === 0 })),
      );
      for (const res of answers) if (res.status !== 200) assertTooMany(res);
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      const made = await ApiKey.query(app.db).where({ facilitatorKeyId: signer.keyId }).resultSize();
      assert.equal(made, 10);
    });
  });

  describe('with an Idempotency-Key', () => {
    it('gives the same secret again, from an answer that is kept encrypted', async () => {
      const signer = await newSigner();
      const send = () => as(signer).post(KEYS, { name: 'CI' }).set('Idempotency-Key', 'once');
      const first = await send().expect(200);
      const again = await send().expect(200);
      assert.equal(again.text, first.text);
      assert.equal(again.get('Idempotent-Replayed'), 'true');
      const kept = await IdempotencyRecord.query(app.db).where({ accountId: signer.accountId });
      assert.deepEqual(
        kept.map(({ sealed, livemode }) => ({ sealed, livemode })),
        [{ sealed: true, livemode: true }],
      );
      const { rows } = await app.db.raw(
        'SELECT idempotency_records::text AS row FROM idempotency_records WHERE account_id = ?',
        [signer.accountId],
      );
      assert.ok(!rows[0].row.includes('svc_ck_') && !rows[0].row.includes(first.body.secret.slice(-40)));
    });

    it('replays although the hourly limit is reached meanwhile', async () => {
      const signer = await newSigner();
      const send = () => as(signer).post(KEYS).set('Idempotency-Key', 'tenth');
      await insertKeys(signer, 9, nowMs());
      const first = await send().expect(200);
      assert.equal((await send().expect(200)).text, first.text);
      assertTooMany(await as(signer).post(KEYS).set('Idempotency-Key', 'eleventh'));
    });

    it('makes one key of many requests at once', async () => {
      const signer = await newSigner();
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => as(signer).post(KEYS).set('Idempotency-Key', 'once').expect(200)),
      );
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      assert.equal(answers.filter((res) => res.get('Idempotent-Replayed') === undefined).length, 1);
    });

    it('keeps the modes apart, and takes what is absent, null and empty for the same', async () => {
      const signer = await newSigner();
      const send = (body: object) => as(signer).post(KEYS, body).set('Idempotency-Key', 'k');
      const live = await send({}).expect(200);
      const test = await send({ livemode: false }).expect(200);
      assert.notEqual(test.body.secret, live.body.secret);
      assert.equal((await send({ livemode: null, name: '' }).expect(200)).text, live.text);
      const form = await as(signer).form(KEYS, 'livemode=false').set('Idempotency-Key', 'k').expect(200);
      assert.equal(form.text, test.text);
    });

    it('refuses another body: defaults are not filled in', async () => {
      const signer = await newSigner();
      const send = (body: object) => as(signer).post(KEYS, body).set('Idempotency-Key', 'k');
      await send({}).expect(200);
      for (const body of [{ name: 'Agent key' }, { livemode: true }]) {
        assertRefusal(await send(body), 400, { type: 'idempotency_error', code: 'idempotency_key_reused' });
      }
    });

    it('shares its keys with the rest of the account and mode', async () => {
      const signer = await newSigner();
      const { body } = await as(signer)
        .post(KEYS, { livemode: false })
        .set('Idempotency-Key', 'k')
        .expect(200);
      const res = await client(app, body.secret)
        .post('/v1/webhook_endpoints', { url: 'https://1.1.1.1/' })
        .set('Idempotency-Key', 'k');
      assertRefusal(res, 400, { type: 'idempotency_error', code: 'idempotency_key_reused' });
    });
  });

  it('takes POST alone', async () => {
    const { testKey } = await buildMerchant(app.db);
    for (const method of ['get', 'put', 'patch', 'delete'] as const) {
      const res = await client(app, testKey).send(method, KEYS);
      assertRefusal(res, 405, { type: 'invalid_request_error', code: 'method_not_allowed' });
      assert.equal(res.get('Allow'), 'POST');
    }
  });
});
