import type { Config } from '../config/config.js';
import type { Logger } from '../process/logger.js';
import type { Closable } from '../process/shutdown.js';
import { isTracing } from './spans.js';

const NO_TRACING: Closable = { close: () => Promise.resolve() };

/** Loads OpenTelemetry only when tracing is on. With web and worker in one process the first call starts and closes it. */
export async function startTracing(
  { tracesUrl }: Pick<Config, 'tracesUrl'>,
  service: string,
  logger: Logger,
): Promise<Closable> {
  if (tracesUrl === undefined || isTracing()) return NO_TRACING;
  const { openTracing } = await import('./open-telemetry.js');
  return openTracing(tracesUrl, service, logger);
}
