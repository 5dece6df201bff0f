import { ensureReady } from './ensure-ready.mjs';

await ensureReady();
await import('../dist/local/run-service.js');
