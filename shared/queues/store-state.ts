import type { Logger } from '../process/logger.js';

/** Logs one line when the queue store becomes unavailable and one when it is back, not one per attempt. */
export interface StoreStateLog {
  unavailable(user: string, error: unknown): void;
  /** A connection to the store failed, which tries again by itself: the first since the store last answered is logged. */
  disconnected(queue: string, error: unknown): void;
  available(user: string): void;
  isUnavailable(user: string): boolean;
}

export function logStoreState(logger: Logger): StoreStateLog {
  const usersWithout = new Set<string>();
  let isErrorLogged = false;
  return {
    unavailable(user, error) {
      if (usersWithout.size === 0) logger.error({ event: 'queue.away', err: error });
      usersWithout.add(user);
    },
    disconnected(queue, error) {
      if (!isErrorLogged && !usersWithout.has(queue))
        logger.warn({ event: 'queue.error', queue, err: error });
      isErrorLogged = true;
    },
    available(user) {
      isErrorLogged = false;
      if (usersWithout.delete(user) && usersWithout.size === 0) logger.info({ event: 'queue.back' });
    },
    isUnavailable: (user) => usersWithout.has(user),
  };
}
