import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { createApiKey, revokeApiKey } from '../../shared/accounts/api-keys.js';
import { ApiKey } from '../../shared/accounts/model.js';
import { nowMs } from '../../shared/process/clock.js';
import { insertAgentKeys } from '../support/agent-keys.js';
import {
  assertInvalid,
  assertLimited,
  buildSigner,
  type Client,
  client,
  type Signer,
  signToken,
} from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { stopClockOnSecond } from '../support/stopped-clock.js';

const KEYS = '/v1/keys';
const HOUR_MS = 3_600_000;

describe('agent sign-up', () => {
  const app = forAllTests(openTestApp);
  afterEach(() => mock.restoreAll());

  const as = (signer: Signer): Client => client(app, signToken(signer));

  describe('allows 10 keys per hour and account', () => {
    it('across both modes and all facilitator keys, and sets Retry-After', async () => {
      const one = await buildSigner(app.db);
      const two = await buildSigner(app.db, one.accountId);
      for (let i = 0; i < 10; i++) {
        await as(i % 3 === 0 ? one : two)
          .post(KEYS, { livemode: i % 2 === 0 })
          .expect(200);
      }
      for (const signer of [one, two]) {
        for (const livemode of [true, false]) assertLimited(await as(signer).post(KEYS, { livemode }));
      }
      await as(await buildSigner(app.db))
        .post(KEYS)
        .expect(200);
    });

    it('and another one exactly an hour after the tenth-last', async () => {
      const signer = await buildSigner(app.db);
      const now = stopClockOnSecond() * 1000;
      await insertAgentKeys(app.db, signer, 3, now - 3_000_000);
      await insertAgentKeys(app.db, signer, 7, now - 1000);
      const res = await as(signer).post(KEYS);
      assertLimited(res);
      assert.equal(res.get('Retry-After'), '600');
    });

    it('not counting keys older than an hour', async () => {
      const signer = await buildSigner(app.db);
      const now = stopClockOnSecond() * 1000;
      await insertAgentKeys(app.db, signer, 20, now - HOUR_MS - 1);
      await insertAgentKeys(app.db, signer, 9, now - HOUR_MS + 1000);
      await as(signer).post(KEYS).expect(200);
      const res = await as(signer).post(KEYS);
      assertLimited(res);
      assert.equal(res.get('Retry-After'), '1');
    });

    it('counting revoked keys', async () => {
      const signer = await buildSigner(app.db);
      await insertAgentKeys(app.db, signer, 9, nowMs());
      const { body } = await as(signer).post(KEYS).expect(200);
      await revokeApiKey(app.db, body.id);
      assertLimited(await as(signer).post(KEYS));
    });

    it('not counting keys created by the operator', async () => {
      const signer = await buildSigner(app.db);
      for (let i = 0; i < 12; i++) {
        await createApiKey(app.db, { accountId: signer.accountId, livemode: i % 2 === 0, name: 'Operator' });
      }
      await as(signer).post(KEYS).expect(200);
    });

    it('not counting refused requests', async () => {
      const signer = await buildSigner(app.db);
      await insertAgentKeys(app.db, signer, 9, nowMs());
      for (let i = 0; i < 3; i++) {
        assertInvalid(await as(signer).post(KEYS, { name: 7 }), 'parameter_invalid', 'name');
      }
      await as(signer).post(KEYS).expect(200);
    });

    it('also for 20 concurrent requests after nine keys: exactly one succeeds', async () => {
      const signer = await buildSigner(app.db);
      await insertAgentKeys(app.db, signer, 9, nowMs());
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => as(signer).post(KEYS, { livemode: i % 2 === 0 })),
      );
      for (const res of answers) if (res.status !== 200) assertLimited(res);
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      const made = await ApiKey.query(app.db).where({ facilitatorKeyId: signer.keyId }).resultSize();
      assert.equal(made, 10);
    });
  });
});
