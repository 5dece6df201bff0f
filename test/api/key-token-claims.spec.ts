import { mock } from 'node:test';
import { nowMs } from '../../shared/process/clock.js';
import { assertInvalidToken } from '../support/agent-keys.js';
import {
  assertUnauthenticated,
  buildSigner,
  claimsOf,
  client,
  eddsa,
  headerOf,
  jwt,
  signToken,
} from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { stopClockOnSecond } from '../support/stopped-clock.js';

const KEYS = '/v1/keys';

describe('agent sign-up', () => {
  const app = forAllTests(openTestApp);
  afterEach(() => mock.restoreAll());

  describe('refuses a token', () => {
    it('whose sub differs from its kid', async () => {
      const signer = await buildSigner(app.db);
      const sibling = await buildSigner(app.db, signer.accountId);
      for (const sub of [sibling.keyId, signer.accountId, '', null, 7, [signer.keyId], undefined]) {
        await assertInvalidToken(app, signToken(signer, { sub }));
      }
    });

    it('whose iss is not svc-merchant', async () => {
      const signer = await buildSigner(app.db);
      for (const iss of ['svc-facilitator', 'SVC-MERCHANT', '', ['svc-merchant'], null, undefined]) {
        await assertInvalidToken(app, signToken(signer, { iss }));
      }
    });

    it('without exp or iat, or with one that is not a number', async () => {
      const signer = await buildSigner(app.db);
      const [iat, exp] = [Math.floor(nowMs() / 1000), Math.floor(nowMs() / 1000) + 120];
      for (const value of [undefined, null, 'soon', '', {}, true]) {
        await assertInvalidToken(app, signToken(signer, { iat, exp: value }));
        await assertInvalidToken(app, signToken(signer, { iat: value, exp }));
      }
      await assertInvalidToken(app, signToken(signer, { iat, exp: String(exp) }));
      await assertInvalidToken(app, signToken(signer, { iat: String(iat), exp }));
    });

    it('whose claims are not an object', async () => {
      const signer = await buildSigner(app.db);
      for (const claims of ['[]', 'null', '"text"', '7', '', '{']) {
        await assertInvalidToken(app, jwt(headerOf(signer), claims, eddsa(signer.privateKey)));
      }
    });

    it('whose header has an unknown critical parameter', async () => {
      const signer = await buildSigner(app.db);
      await assertInvalidToken(app, signToken(signer, {}, { crit: ['x'], x: 1 }));
      await assertInvalidToken(app, signToken(signer, {}, { crit: ['b64'], b64: false }));
    });

    it('that has expired, with 30 seconds of leeway', async () => {
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

    it('whose iat is in the future, with 30 seconds of leeway', async () => {
      const signer = await buildSigner(app.db);
      const now = stopClockOnSecond();
      const issued = (iat: number) => signToken(signer, { iat, exp: iat + 120 });
      await client(app, issued(now + 30))
        .post(KEYS)
        .expect(200);
      await assertInvalidToken(app, issued(now + 31));
      await assertInvalidToken(app, issued(now + 86_400));
      await assertInvalidToken(app, issued(now * 1000));
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
      await assertInvalidToken(app, signToken(signer, { iat: now, exp: now + 3601 }));
      await assertInvalidToken(app, signToken(signer, { iat: now - 3601, exp: now }));
      await assertInvalidToken(app, signToken(signer, { iat: 0, exp: now + 60 }));
      await assertInvalidToken(app, signToken(signer, { iat: now, exp: Number.MAX_SAFE_INTEGER }));
      const endless = JSON.stringify(claimsOf(signer)).replace(/"exp":\d+/, '"exp":1e999');
      await assertInvalidToken(app, jwt(headerOf(signer), endless, eddsa(signer.privateKey)));
    });

    it('before its nbf, with 30 seconds of leeway', async () => {
      const signer = await buildSigner(app.db);
      const now = stopClockOnSecond();
      await client(app, signToken(signer, { nbf: now - 60 }))
        .post(KEYS)
        .expect(200);
      await client(app, signToken(signer, { nbf: now + 30 }))
        .post(KEYS)
        .expect(200);
      await assertInvalidToken(app, signToken(signer, { nbf: now + 31 }));
      await assertInvalidToken(app, signToken(signer, { nbf: 'now' }));
    });
  });
});
