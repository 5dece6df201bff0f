import assert from 'node:assert/strict';
import { TcpProxy } from '../../lab/world/proxy/tcp-proxy.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { runCommand, runJson, saidBy } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import { createMigratedDatabase } from '../support/suite.js';

const COMMIT = /COMMIT;/;

describe('a command whose COMMIT gets no answer', () => {
  let app: TestApp;
  let url: string;
  let proxy: TcpProxy;
  let account: string;
  useCliDatabase(() => url);
  before(async () => {
    url = await createMigratedDatabase('unanswered_commits');
    app = await openTestApp({ DATABASE_URL: url });
    proxy = await TcpProxy.start(url);
    process.env.DATABASE_URL = url;
    account = (await runJson('create', '--name', 'Shop')).account.id;
  });
  after(async () => {
    await app.close();
    await proxy.refuse();
  });

  async function runCut(...argv: string[]): ReturnType<typeof runCommand> {
    process.env.DATABASE_URL = proxy.url;
    return await runCommand(...argv).finally(() => {
      process.env.DATABASE_URL = url;
    });
  }

  async function createKey(): Promise<{ status: number; key: string | undefined }> {
    const ran = await runCut('create-key', account, '--mode', 'test', '--name', 'Second');
    const said = saidBy(ran);
    assert.match(said, /^Postgres did not answer the COMMIT .+ it may have been carried out\. .+\n$/);
    assert.equal(ran.stdout, '');
    return { status: ran.status, key: /audit --about (key_\w+)/.exec(said)?.[1] };
  }

  async function countActions(key: string | undefined): Promise<number> {
    return (await runJson('audit', '--about', key ?? '')).actions.length;
  }

  it('says that it may have been carried out, and how to find out: it was', async () => {
    proxy.cutNext(COMMIT, { answerBytes: 0 });
    const { status, key } = await createKey();
    assert.equal(status, 1);
    assert.equal(await countActions(key), 1);
    assert.ok((await runJson('show', account)).keys.some(({ id }) => id === key));
  });

  it('says the same when it was not', async () => {
    proxy.cutNext(COMMIT, { requestBytes: 0 });
    const { status, key } = await createKey();
    assert.equal(status, 1);
    assert.equal(await countActions(key), 0);
    assert.ok(!(await runJson('show', account)).keys.some(({ id }) => id === key));
  });

  for (const lost of ['the answer', 'the request'] as const)
    it(`says of a command in parts, by ${lost} that is lost, that it can be run again`, async () => {
      proxy.cutNext(COMMIT, lost === 'the answer' ? { answerBytes: 0 } : { requestBytes: 0 });
      const ran = await runCut('rebuild-reports', '--account', account);
      assert.match(
        saidBy(ran),
        /^Postgres did not answer a COMMIT .+ Run it again: it does what is left\.\n$/,
      );
      assert.deepEqual([ran.status, ran.stdout], [1, '']);
      assert.equal((await runJson('rebuild-reports', '--account', account)).accounts, 1);
    });
});
