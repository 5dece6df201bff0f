import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import { nodeProgram } from '../../lab/world/processes/processes.js';
import { StartedProcess } from '../../lab/world/processes/supervisor.js';
import type { Freeze } from '../../lab/world/proxy/tcp-proxy.js';
import { ensureBuilt } from '../../local/build/ensure-built.mjs';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { runJson, saidBy } from '../support/cli.js';
import { useProxiedShop } from '../support/proxied-shop.js';

/** Postgres' answer to a COMMIT. */
const COMMITTED = /COMMIT\0/;

describe('a command that a signal ends', () => {
  const shop = useProxiedShop('interrupted_commands');
  let freeze: Freeze;
  before(() => ensureBuilt(projectRoot()));
  afterEach(() => freeze.thaw());

  const start = (...argv: string[]): StartedProcess =>
    new StartedProcess(
      nodeProgram(['local/commands/merchants.mjs', ...argv], {
        environment: { DATABASE_URL: shop.proxy.url },
      }),
    );

  async function end(
    command: StartedProcess,
    signal: 'SIGINT' | 'SIGTERM',
  ): Promise<[number | null, string]> {
    command.signal(signal);
    const { code, stdout, stderr } = await command.ran();
    assert.equal(stdout, '');
    return [code, saidBy({ stderr })];
  }

  async function untilListed(what: string): Promise<void> {
    await eventually(async () => {
      const { actions } = await runJson('audit');
      assert.equal(actions[0]?.what, what);
    });
  }

  it('while Postgres does not answer its COMMIT says that it may have been carried out, and how to find out', async () => {
    freeze = shop.proxy.freeze({ ways: ['down'], from: COMMITTED });
    const command = start('create-key', shop.account, '--mode', 'test');
    await untilListed('create-key');
    const [code, said] = await end(command, 'SIGINT');
    assert.equal(code, 130);
    const sentence =
      /^Ended by SIGINT\. The command may have been carried out\. .+ look at "audit --about (key_\w+)".+\n$/;
    const [, key = ''] = sentence.exec(said) ?? [];
    assert.equal((await runJson('audit', '--about', key)).actions.length, 1, said);
  });

  it('between its parts says that those which are done stay', async () => {
    freeze = shop.proxy.freeze({ ways: ['down'], from: COMMITTED });
    const command = start('rebuild-reports');
    await untilListed('rebuild-reports');
    assert.deepEqual(await end(command, 'SIGTERM'), [
      143,
      'Ended by SIGTERM. What the command has changed until now stays, and "audit" lists the command.\n',
    ]);
  });

  it('before it has changed anything says nothing', async () => {
    freeze = shop.proxy.freeze();
    const command = start('create-key', shop.account, '--mode', 'test');
    await command.until('its database', () => (command.errors().includes('\n') ? true : undefined));
    assert.deepEqual(await end(command, 'SIGINT'), [130, '']);
  });
});
