import assert from 'node:assert/strict';
import { createAgentKey } from '../../shared/accounts/agent-keys.js';
import { removeFacilitatorKey } from '../../shared/accounts/facilitator-keys.js';
import { ApiKey, FacilitatorKey } from '../../shared/accounts/model.js';
import { buildSigner, type Signer, signToken } from '../support/api-client.js';
import { openTestApp } from '../support/app.js';
import { assertRefused, runJson } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import { forAllTests } from '../support/hooks.js';

describe('the checkout keys of a facilitator key', () => {
  const app = forAllTests(openTestApp);
  useCliDatabase();

  const url = (path: string): string => `http://127.0.0.1:${app.port}${path}`;

  async function signUp(signer: Signer): Promise<{ id: string; secret: string }> {
    const headers = { authorization: `Bearer ${signToken(signer)}` };
    const res = await fetch(url('/v1/keys'), { method: 'POST', headers });
    assert.equal(res.status, 200);
    return JSON.parse(await res.text());
  }

  async function statusWith({ secret }: { secret: string }): Promise<number> {
    return (await fetch(url('/v1/payments'), { headers: { authorization: `Bearer ${secret}` } })).status;
  }

  it('are listed by it', async () => {
    const signer = await buildSigner(app.db);
    const other = await buildSigner(app.db, signer.accountId);
    const [one, two] = [await signUp(signer), await signUp(other)];
    const { keys } = await runJson('show', signer.accountId);
    const makers = new Map(keys.map((key) => [key.id, key.facilitator_key]));
    assert.equal(makers.get(one.id), signer.keyId);
    assert.equal(makers.get(two.id), other.keyId);
    assert.deepEqual([...makers.values()].filter((maker) => maker === null).length, keys.length - 2);
  });

  it('stay valid after its removal, unless they are revoked with it', async () => {
    const signer = await buildSigner(app.db);
    const other = await buildSigner(app.db, signer.accountId);
    const [first, second, third] = [await signUp(signer), await signUp(signer), await signUp(other)];
    const own = await runJson('create-key', signer.accountId, '--mode', 'test');
    const removed = await runJson('remove-facilitator-key', other.accountId, '--key-id', other.keyId);
    assert.equal(removed.revoked, undefined);
    assert.equal(await statusWith(third), 200);

    const args = [signer.accountId, '--key-id', signer.keyId, '--revoke-keys'];
    const { revoked } = await runJson('remove-facilitator-key', ...args);
    assert.deepEqual(revoked?.map(({ id }) => id).sort(), [first.id, second.id].sort());
    assert.deepEqual(await Promise.all([first, second, third, own].map(statusWith)), [401, 401, 200, 200]);
    await assertRefused(/No such facilitator key/, 'remove-facilitator-key', ...args);

    const late = [other.accountId, '--key-id', other.keyId, '--revoke-keys'];
    assert.equal((await runJson('remove-facilitator-key', ...late)).revoked?.[0]?.id, third.id);
    assert.equal(await statusWith(third), 401);
  });

  it('of another account are not revoked', async () => {
    const signer = await buildSigner(app.db);
    const stranger = await buildSigner(app.db);
    const key = await signUp(signer);
    const args = [stranger.accountId, '--key-id', signer.keyId, '--revoke-keys'];
    await assertRefused(/No such facilitator key/, 'remove-facilitator-key', ...args);
    assert.equal(await statusWith(key), 200);
  });

  it('are not created after its removal by a sign-up in flight', async () => {
    const { accountId, keyId } = await buildSigner(app.db);
    const signer = await FacilitatorKey.query(app.db).findById(keyId).throwIfNotFound();
    const signUpNow = createAgentKey(app.db, signer, { livemode: true, name: 'Late' }, app.secretBox, {
      render: ({ key }) => JSON.stringify({ id: key.id }),
      idempotent: undefined,
    });
    const outcomes = await Promise.allSettled([
      removeFacilitatorKey(app.db, { accountId, keyId }, { revokeKeys: true }),
      signUpNow,
    ]);
    const left = await ApiKey.query(app.db)
      .where({ accountId, facilitatorKeyId: keyId })
      .whereNull('revokedAt');
    assert.deepEqual(left, [], JSON.stringify(outcomes));
    const again = createAgentKey(app.db, signer, { livemode: true, name: 'Later' }, app.secretBox, {
      render: ({ key }) => JSON.stringify({ id: key.id }),
      idempotent: undefined,
    });
    await assert.rejects(again, /no longer registered/);
  });
});
