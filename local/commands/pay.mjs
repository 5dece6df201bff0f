import { fileURLToPath } from 'node:url';
import { ensureInstalled } from '../toolchain/ensure-installed.mjs';
import { cacheOnlyWherePossible } from '../toolchain/tsx-cache.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
await ensureInstalled(root);
// The buyer agent runs from its source: no build contains it.
cacheOnlyWherePossible();
const { register } = await import('tsx/esm/api');
register();
const { main } = await import('../../lab/sandbox/pay/main.ts');
process.exitCode = await main(
  process.argv.slice(2),
  fileURLToPath(new URL('../../.data/sandbox', import.meta.url)),
);
