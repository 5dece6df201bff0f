import { readConfig } from '../shared/config.js';
import { runEntryPoint } from '../shared/entry-point.js';
import { keepHeapSmall } from '../shared/heap-growth.js';
import { createLogger, tellStart } from '../shared/logger.js';
import { closeOnSignal } from '../shared/shutdown.js';
import { startWeb } from './start-web.js';

await runEntryPoint(async () => {
  keepHeapSmall();
  const config = readConfig('web');
  const logger = createLogger(config.logLevel, 'web');
  tellStart(logger);
  closeOnSignal(await startWeb(config, logger), logger);
});
