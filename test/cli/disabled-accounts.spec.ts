import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import { ApiKey } from '../../shared/accounts/model.js';
import { buildSigner, client, signToken } from '../support/api-client.js';
import { assertRefused, runJson } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import { forAllTests } from '../support/hooks.js';
import { answerOf } from '../support/link-answers.js';
import { SESSIONS } from '../support/orders.js';
import { openWebhookFlow } from '../support/webhook-flow.js';

describe('merchants disable-account', () => {
  const flow = forAllTests(() => openWebhookFlow('disabled_accounts'));
  let account: string;
  before(async () => {
    account = flow.merchant.accountId;
  });
  useCliDatabase(() => flow.databaseUrl);

  const codeWith = async (key: string, path = SESSIONS): Promise<string> => {
    const { status, body } = await client(flow.app, key).get(path);
    return status === 200 ? '200' : `${status} ${body.error.code}`;
  };
  const keys = (): string[] => [flow.merchant.liveKey, flow.merchant.testKey];

  it('refuses its keys and links from the next request on, and gives both back', async () => {
    const { id } = await flow.buildSession();
    const { header } = await flow.sign(id);
    assert.equal(answerOf(await flow.visit(id)), '402');
    for (const key of keys()) assert.equal(await codeWith(key), '200');

    const disabled = await runJson('disable-account', account);
    assert.equal(disabled.id, account);
    assert.ok(Number(disabled.disabled_at) > 0);
    for (const key of keys()) {
      assert.equal(await codeWith(key), '401 api_key_revoked');
      assert.equal(await codeWith(key), '401 api_key_revoked');
      assert.equal(await codeWith(key, '/v1/no_such_path'), '401 api_key_revoked');
    }
    assert.equal(answerOf(await flow.visit(id)), '503 payments_unavailable');
    const refused = await flow.visit(id, { 'PAYMENT-SIGNATURE': header });
    assert.equal(answerOf(refused), '503 payments_unavailable');
    const page = await flow.visit(id, { accept: 'text/html' });
    assert.match(page.text, /data-state="unavailable"/);
    assert.equal((await flow.session(id)).status, 'open');
    // A second time it stays as it is.
    assert.equal((await runJson('disable-account', account)).disabled_at, disabled.disabled_at);

    assert.equal((await runJson('enable-account', account)).disabled_at, null);
    for (const key of keys()) assert.equal(await codeWith(key), '200');
    assert.equal(answerOf(await flow.visit(id, { 'PAYMENT-SIGNATURE': header })), '200 complete');
    assert.equal(flow.facilitator.ledger.length, 1);
  });

  it('lets a payment in progress finish, and its webhook arrive', async () => {
    const hook = await flow.addEndpoint();
    const { id } = await flow.buildSession();
    const settling = flow.facilitator.settle.holdNext();
    const paying = flow.pay(id).then((res) => res);
    await eventually(async () => assert.equal((await flow.session(id)).status, 'processing'));
    await runJson('disable-account', account);
    try {
      settling.release();
      assert.equal(answerOf(await paying), '200 complete');
      await flow.untilSucceeded(hook.id, 1);
      assert.equal(answerOf(await flow.visit(id)), '200 complete');
    } finally {
      await runJson('enable-account', account);
    }
  });

  it('gives it no new key meanwhile', async () => {
    const signer = await buildSigner(flow.db, account);
    await runJson('disable-account', account);
    try {
      await assertRefused(/is disabled/, 'create-key', account, '--mode', 'test');
      const made = await client(flow.app, signToken(signer)).post('/v1/keys');
      assert.deepEqual([made.status, made.body.error.code], [401, 'api_key_revoked']);
    } finally {
      await runJson('enable-account', account);
    }
    assert.equal((await client(flow.app, signToken(signer)).post('/v1/keys')).status, 200);
  });

  it('does not bring back keys that were revoked before or meanwhile', async () => {
    const before_ = await runJson('create-key', account, '--mode', 'test');
    const meanwhile = await runJson('create-key', account, '--mode', 'test');
    await runJson('revoke-key', before_.id);
    await runJson('disable-account', account);
    const shown = (await runJson('show', account)).keys.find(({ id }) => id === meanwhile.id);
    assert.equal(shown?.suspended, true);
    assert.equal((await runJson('revoke-key', meanwhile.id)).suspended, false);
    await runJson('enable-account', account);
    for (const { secret } of [before_, meanwhile])
      assert.equal(await codeWith(secret), '401 api_key_revoked');
  });

  it('is told apart from unknown accounts', async () => {
    for (const command of ['disable-account', 'enable-account', 'revoke-keys'])
      await assertRefused(/No such account: 'acct_none'/, command, 'acct_none');
  });
});

describe('merchants revoke-keys', () => {
  const flow = forAllTests(() => openWebhookFlow('revoke_keys', { worker: false }));
  useCliDatabase(() => flow.databaseUrl);

  it('revokes all keys of a mode, or all of them, suspended ones too', async () => {
    const { accountId, liveKey, testKey } = flow.merchant;
    const statusWith = async (key: string): Promise<number> =>
      (await client(flow.app, key).get(SESSIONS)).status;
    const first = await runJson('revoke-keys', accountId, '--mode', 'live');
    assert.deepEqual(
      first.revoked.map(({ livemode }) => livemode),
      [true],
    );
    assert.deepEqual([await statusWith(liveKey), await statusWith(testKey)], [401, 200]);
    await runJson('disable-account', accountId);
    const { revoked } = await runJson('revoke-keys', accountId);
    assert.equal(revoked.length, 1);
    await runJson('enable-account', accountId);
    assert.equal(await statusWith(testKey), 401);
    assert.deepEqual((await runJson('revoke-keys', accountId)).revoked, []);
    assert.equal(await ApiKey.query(flow.db).where({ accountId }).whereNull('revokedAt').resultSize(), 0);
    await assertRefused(/--mode must be live or test/, 'revoke-keys', accountId, '--mode', 'both');
  });
});
