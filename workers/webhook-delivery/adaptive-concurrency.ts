import { lruCache } from '../../shared/limits/lru-cache.js';
import { LEAST_SLOTS, MOST_SLOTS } from '../../shared/webhooks/slots.js';
import type { TakenEndpoint } from '../../shared/webhooks/take-due.js';

/** An answer that takes longer is slow. */
export const SLOW_MS = 1000;
const MOST_ENDPOINTS = 10_000;

/**
 * Adapts an endpoint's slots to how fast the endpoint answers. Each process counts only the successes of its own tries, and
 * changes the slots for all processes. `record-failure.ts` halves them after a failure.
 */
export class AdaptiveConcurrency {
  /** Consecutive quick answers by endpoint. As many as the endpoint has slots are a round. */
  readonly #quick = lruCache<number>(MOST_ENDPOINTS);

  /** Returns the endpoint's new number of slots, or undefined when the number stays. */
  afterSuccess({ id, slots }: Pick<TakenEndpoint, 'id' | 'slots'>, durationMs: number): number | undefined {
    if (durationMs > SLOW_MS) {
      this.#quick.delete(id);
      return slots > LEAST_SLOTS ? Math.max(LEAST_SLOTS, Math.floor(slots / 2)) : undefined;
    }
    const quick = (this.#quick.get(id) ?? 0) + 1;
    const isRound = quick >= slots;
    this.#quick.set(id, isRound ? 0 : quick);
    return isRound && slots < MOST_SLOTS ? Math.min(MOST_SLOTS, slots * 2) : undefined;
  }
}
