import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findSpecs, longestFirst } from '../suite/spec-files.mjs';
import { ensureInstalled } from '../toolchain/ensure-installed.mjs';
import { runToEnd } from '../toolchain/run-to-end.mjs';
import { ensureSystemTools } from '../toolchain/system-tools.mjs';

/** A run of fewer files prints each test's title. */
const MANY = 10;
const REPORTER = ['--require', 'test/support/progress-reporter.ts', '--reporter', 'files'];

const root = fileURLToPath(new URL('../..', import.meta.url));
// Each takes some half a minute the first time. Programs that cannot be installed are named before npm begins.
await Promise.all([ensureSystemTools(), ensureInstalled(root)]);

// `npm test -- test/unit/money.spec.ts` runs that file alone, `--changed[=<commit>]` the files that a change can affect;
// mocha reads every other argument.
const args = process.argv.slice(2);
const changed = args.find((arg) => /^--changed(=|$)/.test(arg));
const others = args.filter((arg) => arg !== changed);
const isNamed = others.some((arg) => arg.startsWith('test/'));
const files = isNamed ? [] : longestFirst(changed === undefined ? findSpecs(root) : findAffected(changed));
if (!isNamed && files.length === 0) process.stdout.write('No spec can be affected by the change.\n');
else {
  const reporter = files.length < MANY ? [] : [...REPORTER, '--reporter-option', `files=${files.length}`];
  const mocha = fileURLToPath(new URL('../../node_modules/mocha/bin/mocha.js', import.meta.url));
  const command = [mocha, ...reporter, ...others, ...files];
  process.exitCode = await runToEnd(process.execPath, command, { cwd: root, stdout: 'inherit' });
}

/** @param {string} option */
function findAffected(option) {
  const program = ['--import', 'tsx', 'test/support/affected-specs.ts', ...option.split('=').slice(1)];
  const found = execFileSync(process.execPath, program, { cwd: root, encoding: 'utf8' });
  return found.split('\n').filter(Boolean);
}
