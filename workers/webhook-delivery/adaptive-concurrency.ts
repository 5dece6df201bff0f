import { LRUCache } from 'lru-cache';
import { LEAST_SLOTS, MOST_SLOTS } from '../../shared/webhooks/event-types.js';
import type { TakenEndpoint } from '../../shared/webhooks/take-due.js';

const SLOW_MS = 1000;
const MOST_ENDPOINTS = 10_000;

/**
 * The number of tries in flight to an endpoint follows how it answers. Each process judges by the successes that it sees
 * itself, and changes the number for all processes; failures change it where they are recorded.
 */
export class AdaptiveConcurrency {
  /** Quick answers in a row, of the present round. */
  readonly #quick = new LRUCache<string, number>({ max: MOST_ENDPOINTS });

  /** How many slots the endpoint gets after a success; undefined when the number stays. */
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
