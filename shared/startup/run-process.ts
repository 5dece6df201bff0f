import { type Config, readConfig } from '../config/config.js';
import { keepHeapSmall } from '../process/heap-growth.js';
import { createLogger, type Logger, logStart } from '../process/logger.js';
import { type Closable, closeOnSignal } from '../process/shutdown.js';
import { runEntryPoint } from './entry-point.js';

/** A web or a worker process, from its settings to the signal that ends it. */
export async function runProcess(
  name: 'web' | 'worker',
  start: (config: Config, logger: Logger) => Promise<Closable>,
): Promise<void> {
  await runEntryPoint(async () => {
    keepHeapSmall();
    const config = readConfig(name);
    const logger = createLogger(config.logLevel, name);
    logStart(logger);
    closeOnSignal(await start(config, logger), logger);
  });
}
