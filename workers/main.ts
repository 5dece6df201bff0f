import { readConfig } from '../shared/config.js';
import { runEntryPoint } from '../shared/entry-point.js';
import { keepHeapSmall } from '../shared/heap-growth.js';
import { createLogger, tellStart } from '../shared/logger.js';
import { closeOnSignal } from '../shared/shutdown.js';
import { startWorker } from './start-worker.js';

await runEntryPoint(async () => {
  keepHeapSmall();
  const config = readConfig('worker');
  const logger = createLogger(config.logLevel, 'worker');
  tellStart(logger);
  closeOnSignal(await startWorker(config, logger), logger);
});
