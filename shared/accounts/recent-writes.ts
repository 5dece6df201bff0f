import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { MAX_WRITERS_KEPT } from '../limits/bounds.js';
import { lruCache } from '../limits/lru-cache.js';
import type { Logger } from '../process/logger.js';
import { NOTE_WRITE } from './statements/recent-writes.sql.js';

/**
 * Read-your-writes with a standby: before an account's write, a time until which its reads go to the primary is stored in
 * Postgres, long enough ahead to cover many writes. A slow write stores it again before the answer is sent. Without a
 * standby nothing is stored.
 */
export interface RecentWrites {
  /** Wraps a write of the account, including the making of its answer. */
  around<T>(accountId: string, write: () => Promise<T>): Promise<T>;
  /** Stores the time again after a committed write. Never fails, since the write cannot be taken back. */
  renew(accountId: string): Promise<void>;
}

const NOTED_FOR_MS = 10_000;
/** A note with less time left is renewed. */
const MIN_LEFT_MS = 5000;

export const NO_RECENT_WRITES: RecentWrites = {
  around: (_accountId, write) => write(),
  renew: () => Promise.resolve(),
};

export function openRecentWrites(db: Knex, logger: Logger): RecentWrites {
  /** `askedAt` is on this process's monotonic clock. */
  const noted = lruCache<{ askedAt: number; written: Promise<unknown> }>(MAX_WRITERS_KEPT);

  async function note(accountId: string): Promise<void> {
    const known = noted.get(accountId);
    if (known !== undefined && performance.now() - known.askedAt < NOTED_FOR_MS - MIN_LEFT_MS) {
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
