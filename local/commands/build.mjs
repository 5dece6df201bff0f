import { fileURLToPath } from 'node:url';
import { build } from '../build/ensure-built.mjs';

await build(fileURLToPath(new URL('../..', import.meta.url)));
