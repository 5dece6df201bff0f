import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  type Program,
  type Ran,
  runProgram,
  StartedProcess,
} from '../../../lab/world/processes/supervisor.js';
import { ensureBuilt } from '../../../local/build/ensure-built.mjs';

const ROOT = path.join(import.meta.dirname, '..', '..', '..');
/** Time for a build and two starts on a busy machine. */
const TIMEOUT_MS = 600_000;

interface Session {
  id: string;
  url: string;
  status: string;
  payment_status: string;
  payment: { transaction: string } | null;
}

interface Started {
  process: StartedProcess;
  baseUrl: string;
  testKey: string;
}

/**
 * The first steps of a new user without privileges: clone, `npm start`, the printed curl, pay, Ctrl-C, start
 * again.
 */
describe('a fresh clone', function () {
  this.timeout(TIMEOUT_MS);
  let folder: string;
  let clone: string;
  // When the test runs as root, npm runs as an unprivileged user (65534).
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'fresh-clone-'));
    clone = path.join(folder, 'checkout');
    await runProgram({ command: 'git', args: ['clone', '--quiet', '--no-hardlinks', ROOT, clone] });
    await give('-R', folder);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /**
   * The packages of this checkout, which `npm test` has installed with `npm ci`: `npm start` finds that they match the
   * lock file. That it installs what does not match is told in ensure-ready.spec.ts.
   */
  async function linkPackages(): Promise<void> {
    const packages = path.join(clone, 'node_modules');
    const copied = await new StartedProcess(copyOf('node_modules', '-al')).ran();
    if (copied.code !== 0) {
      // The temporary folder is on another file system, which hard links can't cross.
      await rm(packages, { recursive: true, force: true });
      await runProgram(copyOf('node_modules', '-a'));
    }
    await rm(path.join(packages, '.install-hash'), { force: true });
    await give(packages);
  }

  /** The build of this checkout, likewise: where its sources are not the committed ones, `npm start` builds again. */
  async function copyBuild(): Promise<void> {
    await ensureBuilt(ROOT);
    await runProgram(copyOf('dist', '-a'));
    await give('-R', path.join(clone, 'dist'));
  }

  function copyOf(name: string, options: string): Program {
    return { command: 'cp', args: [options, path.join(ROOT, name), path.join(clone, name)] };
  }

  async function give(...files: string[]): Promise<void> {
    if (user.uid !== undefined)
      await runProgram({ command: 'chown', args: [`${user.uid}:${user.gid}`, ...files] });
  }

  function npm(...args: string[]): Program {
    const environment = { HOME: folder, npm_config_cache: path.join(folder, 'npm-cache') };
    return { command: 'npm', args, cwd: clone, environment, user };
  }

  async function start(more: Record<string, string> = {}): Promise<Started> {
    const program = npm('start');
    const process = new StartedProcess({ ...program, environment: { ...program.environment, ...more } });
    await process.until('it is ready', () => /Ctrl-C stops everything/.exec(process.output()) ?? undefined);
    const [, baseUrl = ''] = /running at (http:\S+)/.exec(process.output()) ?? [];
    const [testKey = ''] = /svc_ck_test_\w+/.exec(process.output()) ?? [];
    return { process, baseUrl, testKey };
  }

  async function stop({ process }: Started): Promise<void> {
    // The signal goes to npm only, which forwards it.
    assert.equal((await process.stop()).code, 0);
    assert.deepEqual(processesIn(clone), [], 'no process is left');
  }

  /** The commands and the examples that follow have to use the first one's address: this one is gone by then. */
  async function startAnotherBeside(first: Started): Promise<void> {
    const { process, baseUrl, testKey } = await start();
    assert.equal(testKey, first.testKey);
    assert.notEqual(baseUrl, first.baseUrl);
    assert.equal((await process.stop()).code, 0);
    assert.match(process.output(), /Webhooks may go to private addresses [^,\n]*\.\n/);
  }

  async function call(started: Started, pathname: string, body?: string): Promise<Session> {
    const response = await fetch(started.baseUrl + pathname, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${started.testKey}:`).toString('base64')}`,
        ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(body !== undefined && { body }),
    });
    assert.equal(response.status, 200);
    return JSON.parse(await response.text());
  }

  /** Runs one of the operator's commands. */
  async function operate(...words: string[]): Promise<Ran> {
    return await new StartedProcess(npm('run', '-s', 'merchants', '--', ...words)).ran();
  }

  async function assertNoDatabase(): Promise<void> {
    const { code, stdout, stderr } = await operate('list', '--json');
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^There is no database: set DATABASE_URL, [^\n]*--local[^\n]*\n$/);
  }

  it('starts without configuration, is paid with the printed commands, leaves no process behind and keeps its data', async () => {
    const tooEarly = await operate('list');
    assert.deepEqual([tooEarly.code, tooEarly.stdout], [1, '']);
    assert.match(tooEarly.stderr, /^The packages are not installed here[^\n]*\n$/);
    assert.deepEqual(readdirSync(clone).includes('node_modules'), false);

    await linkPackages();
    await copyBuild();
    const first = await start();
    const made = await operate('create', '--name', 'Second shop', '--json');
    assert.match(made.stderr, /^Database: app at \/[^\n]*, of npm start\n$/);
    const { keys } = JSON.parse(made.stdout);
    await call({ ...first, testKey: keys.test }, '/v1/checkout/sessions');
    const session = await call(
      first,
      '/v1/checkout/sessions',
      'line_items[0][price_data][product_data][name]=Coffee&line_items[0][price_data][unit_amount]=450',
    );
    assert.equal(session.status, 'open');
    await startAnotherBeside(first);
    assert.equal(JSON.parse((await operate('show', session.id, '--json')).stdout).url, session.url);
    const printed = await runProgram(npm('run', 'pay', '--', session.url));
    const [, transaction] = /Paid 4\.50 USDC \(HTTP 200\)[\s\S]*transaction\s+(\S+)/.exec(printed) ?? [];
    assert.match(transaction ?? printed, /^0x[0-9a-f]{64}$/);
    await eventually(() =>
      assert.match(first.process.output(), new RegExp(`checkout\\.session\\.completed.*${session.id}`)),
    );
    const [, example = ''] = /Examples +(.*)/.exec(first.process.output()) ?? [];
    const printedByExample = await runProgram({
      command: '/bin/sh',
      args: ['-c', example],
      cwd: clone,
      user,
    });
    assert.match(printedByExample, new RegExp(`${session.id} was paid \\$4\\.50 in USDC`));
    const { pathname } = new URL(session.url);
    assert.equal((await fetch(first.baseUrl + pathname)).status, 200);
    await stop(first);

    await assertNoDatabase();
    const local = await operate('list', '--json', '--local');
    assert.match(local.stderr, /^Database: app at \/[^\n]*, started for this call\n$/);
    assert.ok(JSON.parse(local.stdout).accounts.some(({ name }: { name: string }) => name === 'Second shop'));
    assert.deepEqual(processesIn(clone), [], 'no process is left');
    await assertNoDatabase();

    // No folder for temporary files can be made there, by root neither.
    const second = await start({ TMPDIR: '/dev/null/tmp' });
    assert.equal(second.testKey, first.testKey);
    const kept = await call(second, `/v1/checkout/sessions/${session.id}`);
    assert.deepEqual(
      [kept.status, kept.payment_status, kept.payment?.transaction],
      ['complete', 'paid', transaction],
    );
    assert.equal((await fetch(second.baseUrl + pathname)).status, 200);
    await stop(second);
  });
});

/** Processes whose command line contains the folder; none where there is no /proc. */
function processesIn(folder: string): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
      } catch {
        // The process ended in between.
        return false;
      }
    });
}
