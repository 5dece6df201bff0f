import { fileURLToPath } from 'node:url';
import { runToEnd } from '../toolchain/run-to-end.mjs';
import { ensureSystemTools } from '../toolchain/system-tools.mjs';
import { ensureReady } from './ensure-ready.mjs';

/** Runs a program of lab/ from its source. With TERM it stops the processes that it has started, its database last. */
export async function runLab(program) {
  await ensureReady();
  await ensureSystemTools();
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const args = ['--import', 'tsx', program, ...process.argv.slice(2)];
  const options = { cwd: root, stdout: 'inherit', stopWith: 'TERM' };
  process.exitCode = await runToEnd(process.execPath, args, options);
}
