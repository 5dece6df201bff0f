import { fileURLToPath } from 'node:url';
import { ensureInstalled } from '../toolchain/ensure-installed.mjs';
import { runToEnd } from '../toolchain/run-to-end.mjs';
import { ensureSystemTools } from '../toolchain/system-tools.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
await ensureInstalled(root);
await ensureSystemTools();

const mocha = fileURLToPath(new URL('../../node_modules/mocha/bin/mocha.js', import.meta.url));
const args = process.argv.slice(2);
// `npm test -- test/unit/money.spec.ts` runs that file alone; mocha reads every other argument.
if (!args.some((arg) => arg.startsWith('test/'))) args.push('test/**/*.spec.ts');
process.exitCode = await runToEnd(process.execPath, [mocha, ...args], { cwd: root, stdout: 'inherit' });
