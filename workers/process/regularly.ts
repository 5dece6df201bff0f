import type { Closable } from '../../shared/process/shutdown.js';

const SOON_MS = 250;

/**
 * The pause before work that a process does as soon as it has started. All of it at one instant would open a connection to
 * Postgres for each, where two or three can do it one after the other.
 */
export function soon(): number {
  return SOON_MS * Math.random();
}

/**
 * Repeats work after pauses, the first one included, and never runs it twice at once. Pauses should be random, so that workers
 * that were started together do not work at the same instant. Closing aborts the signal, and waits for work that is running.
 */
export function regularly(
  work: (stopped: AbortSignal) => Promise<void>,
  pauseMs: () => number,
  firstPauseMs: number = pauseMs(),
): Closable {
  const stop = new AbortController();
  let working: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  const schedule = (ms: number): void => {
    timer = setTimeout(() => {
      working = work(stop.signal).finally(() => {
        if (!stop.signal.aborted) schedule(pauseMs());
      });
    }, ms);
  };
  schedule(firstPauseMs);
  return {
    async close() {
      stop.abort();
      clearTimeout(timer);
      await working;
    },
  };
}
