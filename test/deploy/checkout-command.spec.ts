import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { nodeProgram, runNode } from '../../lab/world/processes/processes.js';
import { type Ran, StartedProcess } from '../../lab/world/processes/supervisor.js';
import { ROOT, read } from '../support/deploy-files.js';
import { testServices } from '../support/suite.js';

const COMMAND = path.join(ROOT, 'deploy', 'checkout.mjs');

describe('deploy/checkout.mjs', () => {
  let folder: string;
  let settings: string;
  before(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'checkout-units-'));
    settings = path.join(folder, 'checkout.env');
    const unit = read('deploy/systemd/checkout-web@.service')
      .replace('/opt/checkout', ROOT)
      .replace('/etc/checkout.env', settings)
      .replace(/^User=.*\n/m, '');
    writeFileSync(path.join(folder, 'checkout-web@.service'), unit);
  });
  after(() => rmSync(folder, { recursive: true }));

  /** The caller's own environment names another database. */
  async function checkout(...words: string[]): Promise<Ran> {
    const environment = { CHECKOUT_UNITS: folder, DATABASE_URL: 'postgres://127.0.0.1:1/throwaway' };
    return await runNode([COMMAND, ...words], { environment, cwd: os.tmpdir() });
  }

  it("works on the units' database, whatever the caller's environment names", async () => {
    const { databaseUrl } = testServices();
    writeFileSync(settings, `# The service\n\nDATABASE_URL="${databaseUrl}"\nLOG_LEVEL=info\n`, {
      mode: 0o600,
    });
    const { code, stdout, stderr } = await checkout('create', '--name', 'Cafe Pocket', '--json');
    assert.equal(code, 0, stderr);
    assert.match(JSON.parse(stdout).account.id, /^acct_/);
    assert.match(stderr, new RegExp(`^Database: ${new URL(databaseUrl).pathname.slice(1)} at [^\\n]+\\n$`));
  });

  it('passes the exit code on, and is production', async () => {
    writeFileSync(settings, 'LOG_LEVEL=info\n');
    const { code, stdout, stderr } = await checkout('list', '--local');
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^DATABASE_URL is missing: in production [^\n]+\n$/);
  });

  it('names the unit that it does not find', async () => {
    const missing = await runNode([COMMAND, 'list'], { environment: { CHECKOUT_UNITS: '/nowhere' } });
    assert.equal(missing.code, 1);
    assert.equal(missing.stderr, 'There is no checkout-web@.service in /nowhere.\n');
  });

  it('reads settings as systemd does, drop-ins last, and runs by a link', async () => {
    const [shown, units] = [path.join(folder, 'shown'), path.join(folder, 'units')];
    const write = (file: string, ...lines: string[]): void => {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, `${lines.join('\n')}\n`);
    };
    write(
      path.join(shown, 'local', 'commands', 'merchants.mjs'),
      'const { PATH, HOME, LANG, TERM, TZ, ...rest } = process.env; process.stdout.write(JSON.stringify(rest));',
    );
    write(
      path.join(units, 'checkout-web@.service'),
      `[Service]\nWorkingDirectory=${shown}\nEnvironmentFile=${settings}\nEnvironmentFile=-/nowhere`,
      'Environment=NODE_ENV=production "TWO=a b" HIDDEN=1',
    );
    const dropIn = path.join(units, 'checkout-web@.service.d', 'more.conf');
    write(dropIn, '[Service]', 'Environment=THREE=3', 'Environment="TWO=c d"');
    write(
      settings,
      ...['; a comment', 'HIDDEN=shown # no comment here', 'QUOTED="x=1 \\"y\\""', "SINGLE='#a\\b'"],
      ...['LONG=one\\', 'two', 'ESCAPED=a\\ b', 'EMPTY=', 'no assignment'],
    );
    const link = path.join(folder, 'checkout');
    symlinkSync(COMMAND, link);
    const environment = { CHECKOUT_UNITS: units, ENCRYPTION_KEY: 'of the caller' };
    const { stdout, stderr } = await new StartedProcess(nodeProgram([link], { environment })).ran();
    assert.equal(stderr, '');
    assert.deepEqual(JSON.parse(stdout), {
      NODE_ENV: 'production',
      TWO: 'c d',
      THREE: '3',
      HIDDEN: 'shown # no comment here',
      QUOTED: 'x=1 "y"',
      SINGLE: '#a\\b',
      LONG: 'onetwo',
      ESCAPED: 'a b',
      EMPTY: '',
    });
  });
});
