import { useExplorers } from '../chains/networks/networks.js';
import { type Config, readConfig } from '../config/config.js';
import { limitHeapGrowth } from '../process/heap-growth.js';
import { createLogger, type Logger, logStart } from '../process/logger.js';
import { type Closable, closeOnSignal, endOnSignal } from '../process/shutdown.js';
import { runEntryPoint } from './entry-point.js';

/** Runs a web or worker process from reading its settings to the signal that ends it. */
export async function runProcess(
  name: 'web' | 'worker',
  start: (config: Config, logger: Logger) => Promise<Closable>,
): Promise<void> {
  endOnSignal();
  await runEntryPoint(async () => {
    limitHeapGrowth();
    const config = readConfig(name);
    useExplorers(config.explorerUrls);
    const logger = createLogger(config.logLevel, name);
    logStart(logger);
    closeOnSignal(await start(config, logger), logger);
  });
}
