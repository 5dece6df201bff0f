import { LRUCache } from 'lru-cache';

/**
 * A cache of the `entries` that were used last. The library's own `max` allocates room for all of them at once: 0.75 ms and
 * 0.26 MB for 10,000.
 */
export function lruCache<V extends NonNullable<unknown>>(
  entries: number,
  options: Pick<LRUCache.Options<string, V, unknown>, 'ttl' | 'perf'> = {},
): LRUCache<string, V> {
  return new LRUCache<string, V>({ ...options, maxSize: entries, sizeCalculation: () => 1 });
}
