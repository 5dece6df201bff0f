import { fileURLToPath } from 'node:url';
import { runToEnd } from '../toolchain/run-to-end.mjs';
import { ensureSystemTools } from '../toolchain/system-tools.mjs';
import { ensureReady } from './ensure-ready.mjs';

await ensureReady();
await ensureSystemTools();

const root = fileURLToPath(new URL('../..', import.meta.url));
const args = ['--import', 'tsx', 'lab/mutants/main.ts', ...process.argv.slice(2)];
process.exitCode = await runToEnd(process.execPath, args, { cwd: root, stdout: 'inherit', stopWith: 'TERM' });
