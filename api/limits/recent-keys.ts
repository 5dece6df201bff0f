import { LRUCache } from 'lru-cache';
import { MAX_COUNTED_IN_MEMORY } from '../../shared/limits/bounds.js';

/**
 * Remembers the MAX_COUNTED_IN_MEMORY keys that were used last. LRUCache allocates megabytes for all of its keys at once, so
 * it is made for the first key: most limits never refuse a caller, and count in the store.
 */
export class RecentKeys<V extends NonNullable<unknown>> {
  #cache: LRUCache<string, V> | undefined;

  get(key: string): V | undefined {
    return this.#cache?.get(key);
  }

  set(key: string, value: V): void {
    this.#cache ??= new LRUCache<string, V>({ max: MAX_COUNTED_IN_MEMORY });
    this.#cache.set(key, value);
  }

  delete(key: string): void {
    this.#cache?.delete(key);
  }

  has(key: string): boolean {
    return this.#cache?.has(key) ?? false;
  }
}
