import { fileURLToPath } from 'node:url';
import { ensureBundled } from '../build/ensure-bundled.mjs';
import { runToEnd } from '../toolchain/run-to-end.mjs';
import { ensureSystemTools } from '../toolchain/system-tools.mjs';
import { ensureReady } from './ensure-ready.mjs';

/** Runs a program of lab/, which may start `others`. With TERM it stops the processes that it has started, its database last. */
export async function runLab(program, others = []) {
  await ensureReady();
  await ensureSystemTools();
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const [file] = await ensureBundled(root, [program, ...others]);
  const options = { cwd: root, stdout: 'inherit', stopWith: 'TERM' };
  process.exitCode = await runToEnd(process.execPath, [file, ...process.argv.slice(2)], options);
}
