import type { Logger } from './logger.js';
import { waitAtMost } from './timeout.js';

/** Platforms such as Heroku kill a stopping process after 30 s; this leaves a margin. */
const DEADLINE_MS = 25_000;

export interface Closable {
  close(): Promise<void>;
}

/** Stops waiting after `ms`: a hanging statement would keep its connection open, and the end of the process closes it. */
export async function closeWithin(ms: number, closing: Promise<void>, logger: Logger): Promise<void> {
  if (!(await waitAtMost(ms, closing))) logger.warn({ event: 'process.left_open' });
}

/**
 * Makes SIGTERM and SIGINT end the process at once, until `closeOnSignal`. The first process of a container gets no signal
 * without a listener, and would go on to serve after a SIGTERM during its start, until it is killed.
 */
export function endOnSignal(): void {
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
}

function end(): void {
  process.exit(0);
}

/** Makes SIGTERM and SIGINT end a command with the code that a shell gives to a program ended by that signal. */
export function failOnSignal(beforeEnd: (signal: NodeJS.Signals) => void = () => {}): void {
  for (const [signal, number] of [
    ['SIGTERM', 15],
    ['SIGINT', 2],
  ] as const)
    process.on(signal, () => {
      beforeEnd(signal);
      process.exit(128 + number);
    });
}

/**
 * SIGTERM or SIGINT closes the service and ends the process, after DEADLINE_MS in any case. Further signals are ignored:
 * platforms signal every process of a group, and npm forwards its own signal to its child.
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
  // `stop` is added before `end` is removed: with a signal's last listener, Node drops a signal that waits for its turn.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop).off(signal, end);
}
