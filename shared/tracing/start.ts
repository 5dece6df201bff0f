import type { Config } from '../config/config.js';
import type { Logger } from '../process/logger.js';
import type { Closable } from '../process/shutdown.js';
import { isTracing } from './spans.js';

const NOTHING: Closable = { close: () => Promise.resolve() };

/** Where nobody wants traces nothing of them is loaded. Of two in one process the first begins, and ends it. */
export async function startTracing(
  { tracesUrl }: Pick<Config, 'tracesUrl'>,
  service: string,
  logger: Logger,
): Promise<Closable> {
  if (tracesUrl === undefined || isTracing()) return NOTHING;
  const { openTracing } = await import('./open-telemetry.js');
  return openTracing(tracesUrl, service, logger);
}
