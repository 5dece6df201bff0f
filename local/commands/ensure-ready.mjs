import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../build/ensure-built.mjs';
import { ensureInstalled } from '../toolchain/ensure-installed.mjs';

/** Makes a fresh clone runnable. Progress goes to standard error, so that a command's standard output stays its own. */
export async function ensureReady() {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  await ensureInstalled(root);
  await ensureBuilt(root);
}
