import { LRUCache } from 'lru-cache';
import { LEAST_PLACES, MOST_PLACES } from '../../shared/webhooks/event-types.js';
import type { WebhookEndpoint } from '../../shared/webhooks/model.js';

const SLOW_MS = 1000;
const MOST_ENDPOINTS = 10_000;

/**
 * How many tries may be on their way to an endpoint follows how it answers. Each process judges by the successes that it
 * sees itself, and changes the number for all; of a failure the endpoint's row knows.
 */
export class Pace {
  /** Quick ones in a row, of the round that is under way. */
  readonly #quick = new LRUCache<string, number>({ max: MOST_ENDPOINTS });

  /** What its places are to be after a success; undefined when they stay. */
  after({ id, places }: Pick<WebhookEndpoint, 'id' | 'places'>, durationMs: number): number | undefined {
    if (durationMs > SLOW_MS) {
      this.#quick.delete(id);
      return places > LEAST_PLACES ? Math.max(LEAST_PLACES, Math.floor(places / 2)) : undefined;
    }
    const quick = (this.#quick.get(id) ?? 0) + 1;
    const isRound = quick >= places;
    this.#quick.set(id, isRound ? 0 : quick);
    return isRound && places < MOST_PLACES ? Math.min(MOST_PLACES, places * 2) : undefined;
  }
}
