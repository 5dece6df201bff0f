import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureBundled } from '../build/ensure-bundled.mjs';
import { ensureInstalled } from '../toolchain/ensure-installed.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
await ensureInstalled(root);
const [program] = await ensureBundled(root, ['lab/sandbox/pay/main.ts']);
const { main } = await import(pathToFileURL(program).href);
process.exitCode = await main(
  process.argv.slice(2),
  fileURLToPath(new URL('../../.data/sandbox', import.meta.url)),
);
