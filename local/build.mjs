import { fileURLToPath } from 'node:url';
import { build } from './ensure-built.mjs';

await build(fileURLToPath(new URL('..', import.meta.url)));
