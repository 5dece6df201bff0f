import { nowMs } from '../../process/clock.js';

/** Remembers which facilitators lately gave no answer about a network, so that others are asked first. */
export interface UnavailableFacilitators {
  /** `forMs`: when it may answer again, if it has said so. */
  note(name: string, network: string, forMs?: number): void;
  /** The facilitator has answered. */
  clear(name: string, network: string): void;
  isUnavailable(name: string, network: string): boolean;
  /** The facilitator was unavailable, and has not answered since. */
  isDoubtful(name: string, network: string): boolean;
}

const UNAVAILABLE_MS = 15_000;
const LONGEST_MS = 60_000;

export function openUnavailableFacilitators(): UnavailableFacilitators {
  const unavailableUntilMs = new Map<string, number>();
  const keyOf = (name: string, network: string): string => `${name} ${network}`;
  return {
    note: (name, network, forMs = UNAVAILABLE_MS) =>
      void unavailableUntilMs.set(keyOf(name, network), nowMs() + Math.min(forMs, LONGEST_MS)),
    clear: (name, network) => void unavailableUntilMs.delete(keyOf(name, network)),
    isUnavailable(name, network) {
      const leftMs = (unavailableUntilMs.get(keyOf(name, network)) ?? 0) - nowMs();
      // A rest longer than was ever set means that the clock was set back.
      return leftMs > 0 && leftMs <= LONGEST_MS;
    },
    isDoubtful: (name, network) => unavailableUntilMs.has(keyOf(name, network)),
  };
}
