import { mkdir, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findSpecs, isLong } from '../suite/spec-files.mjs';
import { ensureInstalled } from '../toolchain/ensure-installed.mjs';
import { runToEnd } from '../toolchain/run-to-end.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
await ensureInstalled(root);
const folder = path.join(root, '.data', 'check');
await mkdir(folder, { recursive: true });

/** Specs that need no database, no queue and no browser; specs that search or draw for long are left to `npm test`. */
const FAST = /^test\/(unit\/|docs\.spec|architecture\/(?!api\.spec))/;
const specs = findSpecs(root).filter((file) => FAST.test(file) && !isLong(file));

/** The same options as in .mocharc.json. */
const node = ['--import', 'tsx', '--no-experimental-require-module'];
const mocha = [...node, 'node_modules/mocha/bin/mocha.js', '--no-config', '--timeout', '60000'];
/** The compiler checks again only files that have changed since the last run, and the files that depend on them. */
const incremental = (name) => ['--incremental', '--tsBuildInfoFile', `.data/check/${name}.tsbuildinfo`];
const tsc = 'node_modules/typescript/bin/tsc';
const staticChecks = [
  ['Format and lint', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.']],
  ['Types', [tsc, '--noEmit', ...incremental('service')]],
  ['Types of the page', [tsc, '--noEmit', '-p', 'api/checkout-page/browser', ...incremental('page')]],
  ['Types of the dashboard', [tsc, '--noEmit', '-p', 'api/dashboard/browser', ...incremental('dashboard')]],
];
const specRuns = [
  [`${specs.length} fast specs`, [...mocha, '--parallel', '--jobs', '2', '--reporter', 'dot', ...specs]],
];

/** The compiler uses one processor, so the specs run meanwhile. Each step's output is printed when it ends. */
process.exitCode = Math.max(...(await Promise.all([staticChecks, specRuns].map(inTurn))));

/** Ends at the first step that fails, with its exit code. */
async function inTurn(steps) {
  for (const [name, command] of steps) {
    const startedAt = performance.now();
    const output = path.join(folder, `${name.toLowerCase().replaceAll(' ', '-')}.txt`);
    const file = await open(output, 'w');
    const code = await runToEnd(process.execPath, command, { cwd: root, stdout: file.fd });
    await file.close();
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    process.stdout.write(
      `${await readFile(output, 'utf8')}${code === 0 ? '✔' : '✖'} ${name}, ${seconds} s\n`,
    );
    if (code !== 0) return code;
  }
  return 0;
}
