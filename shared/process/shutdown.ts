import type { Logger } from './logger.js';
import { waitAtMost } from './within.js';

/** Routers give a stopping process 30 s; this leaves a margin. */
const DEADLINE_MS = 25_000;

export interface Closable {
  close(): Promise<void>;
}

/** What has not closed by then is left to the end of the process: a statement that hangs holds its connection open. */
export async function closeWithin(ms: number, closing: Promise<void>, logger: Logger): Promise<void> {
  if (!(await waitAtMost(ms, closing))) logger.warn({ event: 'process.left_open' });
}

/**
 * SIGTERM or SIGINT closes the service once and ends the process. Platforms signal every process of theirs, and npm
 * passes its own on: a second signal is the first one again. What has not closed in time is ended.
 */
export function closeOnSignal(service: Closable, logger: Logger): void {
  let closing = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (closing) return;
    closing = true;
    logger.info({ event: 'process.stopping', signal });
    const deadline = setTimeout(() => {
      logger.error({ event: 'process.stop_timed_out' });
      process.exit(1);
    }, DEADLINE_MS);
    deadline.unref();
    service.close().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ event: 'process.stop_failed', err: error });
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
