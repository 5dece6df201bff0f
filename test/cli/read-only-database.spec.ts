import assert from 'node:assert/strict';
import { loadConfig } from '../../shared/config/config.js';
import { openDatabase } from '../../shared/db/knex.js';
import { runCommand, runJson, saidBy } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import { forAllTests } from '../support/hooks.js';
import { createMigratedDatabase } from '../support/suite.js';

describe('a command on a Postgres that takes no writes', () => {
  const shop = forAllTests(async () => ({
    url: await createMigratedDatabase('read_only_commands'),
  }));
  let account: string;
  useCliDatabase(() => shop.url);
  before(async () => {
    account = (await runJson('create', '--name', 'Shop')).account.id;
    const db = openDatabase(loadConfig({ DATABASE_URL: shop.url }, 'cli').database);
    await db.raw('ALTER DATABASE ?? SET default_transaction_read_only = on', [
      new URL(shop.url).pathname.slice(1),
    ]);
    await db.destroy();
  });

  it('says so in one line, without the statement, and only reads', async () => {
    for (const argv of [
      ['create', '--name', 'Other'],
      ['create-key', account, '--mode', 'test'],
      ['update', account, '--name', 'Renamed'],
      ['disable-account', account],
      ['disable-endpoint', 'we_none'],
      ['erase-personal', 'cs_test_none'],
      ['resend-events', '--since', '2026-01-01'],
      ['rebuild-reports'],
      ['reconcile-restore'],
    ]) {
      const ran = await runCommand(...argv);
      assert.equal(ran.status, 1);
      assert.equal(ran.stdout, '');
      const words = /^The command failed: cannot execute [A-Z ]+ in a read-only transaction\n$/;
      assert.match(saidBy(ran), words, argv.join(' '));
    }
    assert.equal((await runJson('list')).accounts.length, 1);
  });
});
