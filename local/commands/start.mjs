import { ensureReady } from './ensure-ready.mjs';

await ensureReady();
await import('../../dist/local/service/run-service.js');
