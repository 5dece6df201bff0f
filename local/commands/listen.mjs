import { ensureReady } from './ensure-ready.mjs';

await ensureReady();
const { start } = await import('../../dist/local/listen/main.js');
process.exitCode = await start(process.argv.slice(2));
