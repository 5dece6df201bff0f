import type { Closable } from '../../shared/process/shutdown.js';

/**
 * Repeats work after pauses, the first one included, and never runs it twice at once. Pauses should be random, so that workers
 * that were started together do not work at the same instant. Closing waits for work that is running.
 */
export function regularly(
  work: () => Promise<void>,
  pauseMs: () => number,
  firstPauseMs: number = pauseMs(),
): Closable {
  let closed = false;
  let working: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  const schedule = (ms: number): void => {
    timer = setTimeout(() => {
      working = work().finally(() => {
        if (!closed) schedule(pauseMs());
      });
    }, ms);
  };
  schedule(firstPauseMs);
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await working;
    },
  };
}
