import { MAX_COUNTED_IN_MEMORY } from '../../shared/limits/bounds.js';
import { lruCache } from '../../shared/limits/lru-cache.js';
import { nowMs } from '../../shared/process/clock.js';

export interface Share {
  keyPrefix: string;
  points: number;
  /** Seconds. */
  duration: number;
  /** Seconds for which a debt may use the share up. */
  longestDebt?: number;
}

/** How many of the counted requests are within the share. */
export interface Count {
  granted: number;
  msBeforeNext: number;
}

/** Counts in the store, or in memory while it does not answer. */
export interface Counter extends Pick<Share, 'points'> {
  /** Counts `asked` requests of a key in one step. */
  count(key: string, asked: number): Promise<Count>;
  /** Reads the key's count without adding to it. */
  left(key: string): Promise<Count>;
  /** Uses the key's share up for so long. */
  useUp(key: string, seconds: number): Promise<void>;
}

/**
 * A `Counter` without a promise. Keeps MAX_COUNTED_IN_MEMORY keys. The least recently used key is dropped and starts again with
 * its whole share.
 */
export function countInMemory({ points, duration }: Omit<Share, 'keyPrefix'>) {
  const windows = lruCache<{ taken: number; endsAtMs: number }>(MAX_COUNTED_IN_MEMORY);
  const windowOf = (key: string): { taken: number; endsAtMs: number } => {
    const known = windows.get(key);
    const isOver = known === undefined || known.endsAtMs <= nowMs();
    return isOver ? { taken: 0, endsAtMs: nowMs() + duration * 1000 } : known;
  };
  return {
    count(key: string, asked: number): Count {
      const { taken, endsAtMs } = windowOf(key);
      windows.set(key, { taken: taken + asked, endsAtMs });
      const granted = Math.min(Math.max(points - taken, 0), asked);
      return { granted, msBeforeNext: endsAtMs - nowMs() };
    },
    left(key: string): Count {
      const { taken, endsAtMs } = windowOf(key);
      return { granted: Math.max(points - taken, 0), msBeforeNext: endsAtMs - nowMs() };
    },
    useUp(key: string, seconds: number): void {
      windows.set(key, { taken: points, endsAtMs: nowMs() + seconds * 1000 });
    },
  };
}
