import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../build/ensure-built.mjs';
import { ensureInstalled } from '../toolchain/ensure-installed.mjs';

/**
 * Makes a fresh clone runnable. Everything is told on standard error, so that a command's output stays its
 * own.
 */
export async function ensureReady() {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  await ensureInstalled(root);
  await ensureBuilt(root);
}
