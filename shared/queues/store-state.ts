import type { Logger } from '../process/logger.js';

/**
 * Errors that follow each other within this time are one outage, even when commands succeed in between: a store whose user
 * lacks the right to one command still gives jobs.
 */
const QUIET_MS = 5000;

/** Logs one line when the queue store becomes unavailable and one when it is back, not one per attempt. */
export interface StoreStateLog {
  unavailable(user: string, error: unknown): void;
  /** A connection to the store, or a command on it, failed. BullMQ tries again by itself; the first of an outage is logged. */
  disconnected(queue: string, error: unknown): void;
  available(user: string): void;
  isUnavailable(user: string): boolean;
}

export function logStoreState(logger: Logger): StoreStateLog {
  const usersWithout = new Set<string>();
  let isErrorLogged = false;
  let lastErrorMs = Number.NEGATIVE_INFINITY;
  return {
    unavailable(user, error) {
      if (usersWithout.size === 0) logger.error({ event: 'queue.away', err: error });
      usersWithout.add(user);
    },
    disconnected(queue, error) {
      if (!isErrorLogged && !usersWithout.has(queue))
        logger.warn({ event: 'queue.error', queue, err: error });
      isErrorLogged = true;
      lastErrorMs = performance.now();
    },
    available(user) {
      if (performance.now() - lastErrorMs > QUIET_MS) isErrorLogged = false;
      if (usersWithout.delete(user) && usersWithout.size === 0) logger.info({ event: 'queue.back' });
    },
    isUnavailable: (user) => usersWithout.has(user),
  };
}
