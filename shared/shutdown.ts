import type { Logger } from './logger.js';

/** Routers give a stopping process 30 s; this leaves a margin. */
const DEADLINE_MS = 25_000;

export interface Closable {
  close(): Promise<void>;
}

/** SIGTERM or SIGINT closes the service once and ends the process; a second signal ends it at once. */
export function closeOnSignal(service: Closable, logger: Logger): void {
  let closing = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (closing) process.exit(1);
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
