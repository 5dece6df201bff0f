import assert from 'node:assert/strict';
import { runCommand, runJson, saidBy } from '../support/cli.js';
import { useProxiedShop } from '../support/proxied-shop.js';

const COMMIT = /COMMIT;/;

describe('a command whose COMMIT gets no answer', () => {
  const shop = useProxiedShop('unanswered_commits');

  async function runCut(...argv: string[]): ReturnType<typeof runCommand> {
    process.env.DATABASE_URL = shop.proxy.url;
    return await runCommand(...argv).finally(() => {
      process.env.DATABASE_URL = shop.url;
    });
  }

  async function createKey(): Promise<{ status: number; key: string | undefined }> {
    const ran = await runCut('create-key', shop.account, '--mode', 'test', '--name', 'Second');
    const said = saidBy(ran);
    assert.match(said, /^Postgres did not answer the COMMIT .+ it may have been carried out\. .+\n$/);
    assert.equal(ran.stdout, '');
    return { status: ran.status, key: /audit --about (key_\w+)/.exec(said)?.[1] };
  }

  async function countActions(key: string | undefined): Promise<number> {
    return (await runJson('audit', '--about', key ?? '')).actions.length;
  }

  it('says that it may have been carried out, and how to find out: it was', async () => {
    shop.proxy.cutNext(COMMIT, { answerBytes: 0 });
    const { status, key } = await createKey();
    assert.equal(status, 1);
    assert.equal(await countActions(key), 1);
    assert.ok((await runJson('show', shop.account)).keys.some(({ id }) => id === key));
  });

  it('says the same when it was not', async () => {
    shop.proxy.cutNext(COMMIT, { requestBytes: 0 });
    const { status, key } = await createKey();
    assert.equal(status, 1);
    assert.equal(await countActions(key), 0);
    assert.ok(!(await runJson('show', shop.account)).keys.some(({ id }) => id === key));
  });

  it('is told from the same command of before by the id in the list', async () => {
    const rename = [shop.account, '--name', 'Shop'] as const;
    const ids = async (): Promise<number[]> =>
      (await runJson('audit', '--about', shop.account)).actions.map(({ id }) => id);
    await runJson('update', ...rename);
    const before = await ids();
    for (const isCarriedOut of [false, true]) {
      shop.proxy.cutNext(COMMIT, isCarriedOut ? { answerBytes: 0 } : { requestBytes: 0 });
      const [, id] = /listed, with the id (\d+), if/.exec(saidBy(await runCut('update', ...rename))) ?? [];
      assert.deepEqual(await ids(), isCarriedOut ? [Number(id), ...before] : before);
      assert.ok(!before.includes(Number(id)), id);
    }
  });

  for (const lost of ['the answer', 'the request'] as const)
    it(`says of a command in parts, by ${lost} that is lost, that it can be run again`, async () => {
      shop.proxy.cutNext(COMMIT, lost === 'the answer' ? { answerBytes: 0 } : { requestBytes: 0 });
      const ran = await runCut('rebuild-reports', '--account', shop.account);
      assert.match(
        saidBy(ran),
        /^Postgres did not answer a COMMIT .+ Run it again: it does what is left\.\n$/,
      );
      assert.deepEqual([ran.status, ran.stdout], [1, '']);
      assert.equal((await runJson('rebuild-reports', '--account', shop.account)).accounts, 1);
    });
});
