import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..', '..');
const MOCHA = path.join(ROOT, 'node_modules', 'mocha', 'bin', 'mocha.js');
const REPORTER = path.join(ROOT, 'test', 'support', 'progress-reporter.ts');

const SPECS: Record<string, string> = {
  'fine.spec.mjs': `
    describe('a fine file', () => {
      it('passes', () => {});
      it('passes too', () => {});
      it('waits for later');
    });`,
  'broken.spec.mjs': `
    describe('a broken file', () => {
      afterEach(function () {
        if (this.currentTest.err) this.currentTest.err.processLogs = 'web: the last line of its log';
      });
      it('compares', () => { throw new Error('two is not three'); });
    });`,
  'unready.spec.mjs': `
    describe('an unready file', () => {
      before('opens the shop', () => { throw new Error('the shop is closed'); });
      it('sells', () => {});
    });`,
};

describe('the progress of npm test', () => {
  let output = '';
  before(async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'progress-'));
    const files = Object.entries(SPECS).map(async ([name, text]) => {
      await writeFile(path.join(folder, name), text);
      return path.join(folder, name);
    });
    const hooks = path.join(folder, 'hooks.mjs');
    await writeFile(hooks, 'export const mochaHooks = { beforeAll() {}, afterEach() {} };');
    const options = [
      '--no-config',
      '--no-color',
      '--parallel',
      '--require',
      hooks,
      '--require',
      REPORTER,
      '--reporter',
      'files',
      '--reporter-option',
      'files=3',
    ];
    const args = ['--import', 'tsx', MOCHA, ...options, ...(await Promise.all(files))];
    output = await new Promise((resolve) => {
      execFile(process.execPath, args, { cwd: ROOT }, (_error, stdout, stderr) => resolve(stdout + stderr));
    });
    await rm(folder, { recursive: true });
  });

  it('has a line for each file with its place, its stories and its time', () => {
    for (const line of [
      /^ +\d\/3 +0:\d\d ✔ \S+fine\.spec\.mjs {2}2 passed, 1 skipped, \d+\.\d s$/m,
      /^ +\d\/3 +0:\d\d \S+ \S+broken\.spec\.mjs {2}0 passed, 1 failed, \d+\.\d s$/m,
      /^ +3\/3 /m,
    ])
      assert.match(output, line);
    assert.equal(output.match(/^ +\d\/3 /gm)?.length, 3);
  });

  it('tells a failure at once, with the log of its processes', () => {
    const [atOnce = ''] = output.split('The slowest files:');
    assert.match(atOnce, /Failed: a broken file › compares\n +Error: two is not three\n/);
    assert.match(atOnce, /^ {4}web: the last line of its log$/m);
    assert.match(
      atOnce,
      /Failed: an unready file › "before all" hook: opens the shop.*\n +Error: the shop is closed/,
    );
  });

  it("ends with the slowest files and mocha's summary", () => {
    assert.match(
      output,
      /The slowest files:\n( +\d+\.\d s {2}\S+\n){3}\n+ {2}2 passing \(.+\)\n {2}1 pending\n {2}2 failing\n/,
    );
  });
});
