import { cacheOnlyWherePossible } from '../toolchain/tsx-cache.mjs';
import { ensureReady } from './ensure-ready.mjs';

await ensureReady();
// The sandbox runs from its sources.
cacheOnlyWherePossible();
await import('../../dist/local/service/run-service.js');
