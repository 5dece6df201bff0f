import type { Logger } from '../process/logger.js';

/** One line when the queue store can no longer be used and one when it can again, however often it is tried between. */
export interface StoreStateLog {
  away(who: string, error: unknown): void;
  back(who: string): void;
  isAway(who: string): boolean;
}

export function logStoreState(logger: Logger): StoreStateLog {
  const without = new Set<string>();
  return {
    away(who, error) {
      if (without.size === 0) logger.error({ event: 'queue.away', err: error });
      without.add(who);
    },
    back(who) {
      if (without.delete(who) && without.size === 0) logger.info({ event: 'queue.back' });
    },
    isAway: (who) => without.has(who),
  };
}
