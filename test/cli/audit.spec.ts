import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import os from 'node:os';
import { COMMANDS } from '../../cli/commands.js';
import { buildMerchant, buildUndecidedPayment } from '../../lab/world/shop/factories.js';
import { ApiKey, OperatorAction } from '../../shared/accounts/model.js';
import { openTestApp } from '../support/app.js';
import { assertRefused, runCommand, runJson } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import { forAllTests } from '../support/hooks.js';

const KNOWINGLY = '--even-if-it-can-still-arrive';

describe('merchants audit', () => {
  const app = forAllTests(openTestApp);
  useCliDatabase();

  const count = async (): Promise<number> => await OperatorAction.query(app.db).resultSize();

  /** The rows that the command has written. */
  async function rowsOf(act: () => Promise<unknown>): Promise<[string, string | null, object][]> {
    const before_ = await count();
    await act();
    const added = (await count()) - before_;
    const { actions } = await runJson('audit', '--limit', `${Math.max(added, 1)}`);
    return actions
      .slice(0, added)
      .reverse()
      .map(({ what, about, arguments: given }) => [what, about, given]);
  }

  it('lists operator, action, object, text and time, newest first', async () => {
    const { account, keys } = await runJson('create', '--name', 'Shop');
    const key = await runJson('create-key', account.id, '--mode', 'test', '--name', 'CI');
    const printed = await runJson('audit', '--limit', '2');
    const [made, created] = printed.actions;
    assert.deepEqual(
      [made?.what, made?.about, made?.arguments],
      ['create-key', key.id, { account: account.id, mode: 'test', name: 'CI' }],
    );
    assert.deepEqual(
      [created?.what, created?.about, created?.arguments],
      ['create', account.id, { name: 'Shop' }],
    );
    assert.equal(made?.who, `${os.userInfo().username}@${os.hostname()}`);
    assert.ok(Math.abs(Number(made?.created) - Date.now() / 1000) < 60);
    assert.equal(printed.actions.length, 2);
    for (const secret of [keys.live, keys.test, key.secret]) {
      assert.ok(!JSON.stringify(await OperatorAction.query(app.db)).includes(secret));
    }
    assert.match((await runCommand('audit')).stdout, /^what: create-key$/m);
  });

  it('has one row per command that changes something, and none per command that reads', async () => {
    const { account } = await runJson('create', '--name', 'Shop');
    const key = await runJson('create-key', account.id, '--mode', 'live');
    const publicKey = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' });
    const named = ['--key-id', `kid-${account.id}`];
    const given = { 'key-id': `kid-${account.id}` };
    const base64 = publicKey.toString('base64');
    const { payment } = await buildUndecidedPayment(app.db, (await buildMerchant(app.db)).accountId);
    const rows = await rowsOf(async () => {
      await runJson('update', account.id, '--support-email', 'help@a.example');
      await runJson('show', account.id);
      await runJson('list');
      await runJson('payments', '--undecided');
      await runJson('show-payment', payment.id);
      await runJson('revoke-key', key.id);
      await runJson('add-facilitator-key', account.id, ...named, '--public-key', base64);
      await runJson('remove-facilitator-key', account.id, ...named, '--revoke-keys');
      await runJson('resolve-payment', payment.id, '--failed', '--reason', 'no', KNOWINGLY);
      process.env.ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');
      // Exit code 1: other specs' secrets cannot be opened.
      await runCommand('reseal-secrets').finally(() => delete process.env.ENCRYPTION_KEY);
      await runJson('audit');
    });
    assert.deepEqual(rows, [
      ['update', account.id, { 'support-email': 'help@a.example' }],
      ['revoke-key', key.id, {}],
      ['add-facilitator-key', account.id, { ...given, 'public-key': base64 }],
      ['remove-facilitator-key', account.id, { ...given, 'revoke-keys': 'true' }],
      ['resolve-payment', payment.id, { failed: 'true', reason: 'no', [KNOWINGLY.slice(2)]: 'true' }],
      ['reseal-secrets', null, {}],
    ]);
  });

  it('covers every command except reading ones', () => {
    const looking = Object.entries(COMMANDS).filter(([, { changes }]) => changes === undefined);
    assert.deepEqual(looking.map(([name]) => name).sort(), [
      'audit',
      'endpoints',
      'export',
      'list',
      'payments',
      'show',
      'show-payment',
      'totals',
    ]);
  });

  it('has no row for refused commands', async () => {
    const rows = await rowsOf(async () => {
      await assertRefused(/No such API key/, 'revoke-key', 'key_none');
      await assertRefused(/No such account/, 'create-key', 'acct_none', '--mode', 'live');
      await assertRefused(/No such payment/, 'resolve-payment', 'pay_none', '--paid', 'abc');
      await assertRefused(/No such event/, 'resend-event', 'evt_none');
      await assertRefused(/ENCRYPTION_KEY is missing/, 'reseal-secrets');
      const since = ['--since', new Date(0).toISOString()];
      for (const more of [[], ['--account', (await buildMerchant(app.db)).accountId]])
        await assertRefused(/No such/, 'resend-events', ...since, '--endpoint', 'we_nope', ...more);
    });
    assert.deepEqual(rows, []);
  });

  it('is written in the same transaction as the effect', async () => {
    const { account } = await runJson('create', '--name', 'Shop');
    const key = await runJson('create-key', account.id, '--mode', 'test');
    await app.db.raw('ALTER TABLE operator_actions ADD CONSTRAINT closed CHECK (false) NOT VALID');
    try {
      const { status, stdout } = await runCommand('revoke-key', key.id);
      assert.deepEqual([status, stdout], [1, '']);
    } finally {
      await app.db.raw('ALTER TABLE operator_actions DROP CONSTRAINT closed');
    }
    const { revokedAt } = await ApiKey.query(app.db).findById(key.id).throwIfNotFound();
    assert.equal(revokedAt, null);
  });

  it('is append-only in Postgres', async () => {
    await runJson('create', '--name', 'Shop');
    const before_ = await OperatorAction.query(app.db).orderBy('id');
    for (const statement of [
      "UPDATE operator_actions SET who = 'nobody'",
      'DELETE FROM operator_actions',
      'DELETE FROM operator_actions WHERE false',
      'TRUNCATE operator_actions',
    ]) {
      await assert.rejects(app.db.raw(statement), /operator_actions only ever grows/, statement);
    }
    assert.deepEqual(await OperatorAction.query(app.db).orderBy('id'), before_);
  });

  it('prints the rows about one object', async () => {
    const { account } = await runJson('create', '--name', 'Shop');
    await runJson('update', account.id, '--name', 'Bazaar');
    await runJson('create', '--name', 'Other');
    const { actions } = await runJson('audit', '--about', account.id);
    assert.deepEqual(
      actions.map(({ what }) => what),
      ['update', 'create'],
    );
    assert.deepEqual((await runJson('audit', '--about', 'acct_none')).actions, []);
  });

  it('prints a limited number of rows', async () => {
    await assertRefused(/--limit must be a whole number from 1 to 10000/, 'audit', '--limit', '0');
    await assertRefused(/--limit must be/, 'audit', '--limit', 'all');
    assert.equal((await runJson('audit', '--limit', '1')).actions.length, 1);
  });
});
