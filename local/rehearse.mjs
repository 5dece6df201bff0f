import { fileURLToPath } from 'node:url';
import { ensureReady } from './ensure-ready.mjs';
import { runToEnd } from './run-to-end.mjs';
import { ensureSystemTools } from './system-tools.mjs';

await ensureReady();
await ensureSystemTools();

const root = fileURLToPath(new URL('..', import.meta.url));
const args = ['--import', 'tsx', 'rehearse/main.ts', ...process.argv.slice(2)];
// TERM: it ends what it has started, its stores last.
process.exitCode = await runToEnd(process.execPath, args, { cwd: root, stdout: 'inherit', stopWith: 'TERM' });
