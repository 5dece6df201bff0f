import { fileURLToPath } from 'node:url';
import { ensureInstalled } from '../toolchain/ensure-installed.mjs';
import { runToEnd } from '../toolchain/run-to-end.mjs';
import { ensureSystemTools, LOAD_TOOL, TOOLS } from '../toolchain/system-tools.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
await ensureInstalled(root);
await ensureSystemTools([...TOOLS, LOAD_TOOL]);

const args = ['--import', 'tsx', 'lab/bench/main.ts', ...process.argv.slice(2)];
process.exitCode = await runToEnd(process.execPath, args, { cwd: root, stdout: 'inherit' });
