import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureBundled } from '../build/ensure-bundled.mjs';
import { ensureReady } from './ensure-ready.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
await ensureReady();
// An installation without development packages has a facilitator instead of the sandbox.
const hasSandbox = existsSync(path.join(root, 'node_modules', 'litesvm'));
const [program] = await ensureBundled(root, [
  'local/service/run-service.ts',
  ...(hasSandbox ? ['lab/sandbox/main.ts'] : []),
]);
await import(pathToFileURL(program).href);
