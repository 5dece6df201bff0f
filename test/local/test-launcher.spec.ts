import assert from 'node:assert/strict';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runsAsRoot } from './playground.js';
import { untilNoProcessMentions } from './processes.js';
import { createSampleProject, installByHand, type SampleProject } from './sample-project.js';

const FAKE_MOCHA = `
require('node:fs').writeFileSync('mocha-runs', '');
console.log(process.argv.slice(2).join(' '));
if (process.argv.includes('--hang')) setInterval(() => {}, 1000);
else process.exit(5);
`;

/** The Debian package of each tool that the suite needs beyond npm's packages. */
const PACKAGES: Record<string, string> = {
  'redis-server': 'redis-server',
  'chromium-headless-shell': 'chromium-headless-shell',
  pgbouncer: 'pgbouncer',
  haproxy: 'haproxy',
  nginx: 'nginx-light',
  varnishd: 'varnish',
  curl: 'curl',
  promtool: 'prometheus',
  'prometheus-alertmanager': 'prometheus-alertmanager',
  ...(process.platform === 'linux' && { 'systemd-analyze': 'systemd' }),
};

describe('npm test', () => {
  let project: SampleProject;
  beforeEach(async () => {
    project = await createSampleProject();
    await installByHand(project);
    await project.write('node_modules/mocha/bin/mocha.js', FAKE_MOCHA);
    await project.write('test/unit/money.spec.ts', '');
    for (const name of Object.keys(PACKAGES)) await writeProgram(`programs/${name}`, 'exit 0');
  });
  afterEach(async () => {
    await project.remove();
  });

  it('runs every spec, the longest first, passes its arguments to mocha, and mocha’s exit code on', async () => {
    for (const file of ['api/a.spec.ts', 'flows/lab/chaos.spec.ts', 'api/helper.ts'])
      await project.write(`test/${file}`, '');
    const outcome = await project.run('test', { args: ['--grep', 'x'], variables: [onPath('programs')] });
    assert.deepEqual([outcome.code, outcome.stderr], [5, '']);
    assert.match(
      outcome.stdout,
      /^--grep x test\/flows\/lab\/chaos.spec.ts test\/api\/a.spec.ts test\/unit\/money.spec.ts\n$/,
    );
  });

  it('prints a line for each file when there are many', async () => {
    for (let n = 1; n <= 10; n += 1) await project.write(`test/unit/${n}.spec.ts`, '');
    const { stdout } = await project.run('test', { variables: [onPath('programs')] });
    assert.match(
      stdout,
      /^--require test\/support\/progress-reporter.ts --reporter files --reporter-option files=11 test\/unit\/1.spec/,
    );
  });

  it('runs only the given specs', async () => {
    const args = ['test/unit/money.spec.ts', '--bail'];
    const outcome = await project.run('test', { args, variables: [onPath('programs')] });
    assert.equal(outcome.stdout, 'test/unit/money.spec.ts --bail\n');
  });

  it('accepts the full Chromium when the headless shell is not installed', async () => {
    const names = Object.keys(PACKAGES).filter((name) => name !== 'chromium-headless-shell');
    for (const name of [...names, 'chromium']) await writeProgram(`whole/${name}`, 'exit 0');
    const outcome = await project.run('test', { variables: [onPath('whole')] });
    assert.deepEqual([outcome.code, outcome.stderr], [5, '']);
  });

  it('names missing programs when it cannot install them', async () => {
    const outcome = await project.run('test', { variables: [onPath('nothing')] });
    assert.deepEqual([outcome.code, outcome.stdout], [1, '']);
    for (const [name, debianPackage] of Object.entries(PACKAGES)) {
      assert.match(outcome.stderr, new RegExp(`${name}: .*apt-get install ${debianPackage}\\)`));
    }
  });

  it('installs them when it is root on Debian', async () => {
    const programs = path.join(project.dir, 'programs');
    await writeProgram(
      'debian/apt-get',
      `echo "$@" >>'${project.dir}/apt-calls'
      case "$*" in *install*) /bin/cp '${programs}'/* "\${0%/*}";; esac`,
    );
    const outcome = await project.run('test', { variables: [onPath('debian')] });
    assert.equal(outcome.code, runsAsRoot ? 5 : 1);
    if (!runsAsRoot) return assert.match(outcome.stderr, /apt-get install redis-server/);
    const calls = (await project.read('apt-calls')).trim().split('\n');
    assert.match(calls[0] ?? '', /update$/);
    const packages = Object.values(PACKAGES).join(' ');
    assert.ok(calls[1]?.endsWith(`install -y --no-install-recommends ${packages}`), calls[1]);
  });

  it('stops mocha when it is stopped', async () => {
    const running = project.begin('test', { args: ['--hang'], variables: [onPath('programs')] });
    while (!project.has('mocha-runs')) await sleep(5);
    running.signal('SIGTERM');
    assert.equal((await running.ran()).code, 143);
    await untilNoProcessMentions(project.dir);
  });

  function onPath(folder: string): string {
    return `PATH=${path.join(project.dir, folder)}`;
  }

  async function writeProgram(file: string, commands: string): Promise<void> {
    await project.write(file, `#!/bin/sh\n${commands}\n`);
    await chmod(path.join(project.dir, file), 0o755);
  }
});
