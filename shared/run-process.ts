import { type Config, readConfig } from './config.js';
import { runEntryPoint } from './entry-point.js';
import { keepHeapSmall } from './heap-growth.js';
import { createLogger, type Logger, tellStart } from './logger.js';
import { type Closable, closeOnSignal } from './shutdown.js';

/** A web or a worker process, from its settings to the signal that ends it. */
export async function runProcess(
  name: 'web' | 'worker',
  start: (config: Config, logger: Logger) => Promise<Closable>,
): Promise<void> {
  await runEntryPoint(async () => {
    keepHeapSmall();
    const config = readConfig(name);
    const logger = createLogger(config.logLevel, name);
    tellStart(logger);
    closeOnSignal(await start(config, logger), logger);
  });
}
