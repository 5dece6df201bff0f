import type { Logger } from '../process/logger.js';

/** Logs one line when the queue store becomes unavailable and one when it is back, not one per attempt. */
export interface StoreStateLog {
  unavailable(user: string, error: unknown): void;
  available(user: string): void;
  isUnavailable(user: string): boolean;
}

export function logStoreState(logger: Logger): StoreStateLog {
  const usersWithout = new Set<string>();
  return {
    unavailable(user, error) {
      if (usersWithout.size === 0) logger.error({ event: 'queue.away', err: error });
      usersWithout.add(user);
    },
    available(user) {
      if (usersWithout.delete(user) && usersWithout.size === 0) logger.info({ event: 'queue.back' });
    },
    isUnavailable: (user) => usersWithout.has(user),
  };
}
