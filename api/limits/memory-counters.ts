import { LRUCache } from 'lru-cache';
import { MAX_COUNTED_IN_MEMORY } from '../../shared/limits/bounds.js';
import { nowMs } from '../../shared/process/clock.js';

export interface Share {
  keyPrefix: string;
  points: number;
  /** Seconds. */
  duration: number;
}

/** How many of the counted requests are within the share. */
export interface Count {
  granted: number;
  msBeforeNext: number;
}

/** Keeps MAX_COUNTED_IN_MEMORY keys. The least recently used key is dropped and starts again with its whole share. */
export function countInMemory({
  points,
  duration,
}: Omit<Share, 'keyPrefix'>): (key: string, asked: number) => Count {
  const windows = new LRUCache<string, { taken: number; endsAtMs: number }>({ max: MAX_COUNTED_IN_MEMORY });
  return (key, asked) => {
    const known = windows.get(key);
    const isOver = known === undefined || known.endsAtMs <= nowMs();
    const { taken, endsAtMs } = isOver ? { taken: 0, endsAtMs: nowMs() + duration * 1000 } : known;
    windows.set(key, { taken: taken + asked, endsAtMs });
    const granted = Math.min(Math.max(points - taken, 0), asked);
    return { granted, msBeforeNext: endsAtMs - nowMs() };
  };
}
