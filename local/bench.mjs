import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './ensure-installed.mjs';
import { runToEnd } from './run-to-end.mjs';
import { ensureSystemTools, LOAD_TOOL, TOOLS } from './system-tools.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
await ensureInstalled(root);
await ensureSystemTools([...TOOLS, LOAD_TOOL]);

const args = ['--import', 'tsx', 'bench/main.ts', ...process.argv.slice(2)];
process.exitCode = await runToEnd(process.execPath, args, { cwd: root, stdout: 'inherit' });
