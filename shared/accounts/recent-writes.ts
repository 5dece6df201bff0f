import { LRUCache } from 'lru-cache';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { MAX_WRITERS_KEPT } from '../limits/bounds.js';
import type { Logger } from '../process/logger.js';
import { NOTE_WRITE } from './statements/recent-writes.sql.js';

/**
 * Whoever has written reads it, wherever it asks: an account's reads go to the primary until a time that is noted in
 * Postgres before it writes, and that lies far enough ahead for many writes. When what was written took long, it is noted
 * again before it is answered. Where no standby is read, nothing is noted.
 */
export interface RecentWrites {
  /** Around what writes for the account, its answer included. */
  around<T>(accountId: string, write: () => Promise<T>): Promise<T>;
  /** After what is done and cannot be taken back: never fails. */
  renew(accountId: string): Promise<void>;
}

const NOTED_FOR_MS = 10_000;
/** So much of it is left at least for whoever finds it noted. */
const LEFT_MS = 5000;

export const NO_RECENT_WRITES: RecentWrites = {
  around: (_accountId, write) => write(),
  renew: () => Promise.resolve(),
};

export function openRecentWrites(db: Knex, logger: Logger): RecentWrites {
  /** When each was asked to be noted, by this machine's steady clock: no time is compared with another clock's. */
  const noted = new LRUCache<string, { askedAt: number; written: Promise<unknown> }>({
    max: MAX_WRITERS_KEPT,
  });

  async function note(accountId: string): Promise<void> {
    const known = noted.get(accountId);
    if (known !== undefined && performance.now() - known.askedAt < NOTED_FOR_MS - LEFT_MS) {
      await known.written;
      return;
    }
    const askedAt = performance.now();
    const written = runStatement(db, NOTE_WRITE, [accountId, NOTED_FOR_MS]);
    noted.set(accountId, { askedAt, written });
    try {
      await written;
    } catch (error) {
      noted.delete(accountId);
      throw error;
    }
  }

  async function renew(accountId: string): Promise<void> {
    try {
      await note(accountId);
    } catch (error) {
      logger.warn({ event: 'account_writes.not_noted', account: accountId, err: error });
    }
  }

  return {
    renew,
    async around(accountId, write) {
      await note(accountId);
      const answer = await write();
      await renew(accountId);
      return answer;
    },
  };
}
