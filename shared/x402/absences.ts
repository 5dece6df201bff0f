import { nowMs } from '../process/clock.js';

/** Remembers which facilitators lately gave no answer about a network, so that others are asked first. */
export interface Absences {
  /** `forMs`: when it may answer again, if it has said so. */
  note(name: string, network: string, forMs?: number): void;
  /** The facilitator has answered. */
  clear(name: string, network: string): void;
  isAway(name: string, network: string): boolean;
  /** The facilitator was away, and has not answered since. */
  isDoubtful(name: string, network: string): boolean;
}

const AWAY_MS = 15_000;
const LONGEST_MS = 60_000;

export function openAbsences(): Absences {
  const awayUntilMs = new Map<string, number>();
  const keyOf = (name: string, network: string): string => `${name} ${network}`;
  return {
    note: (name, network, forMs = AWAY_MS) =>
      void awayUntilMs.set(keyOf(name, network), nowMs() + Math.min(forMs, LONGEST_MS)),
    clear: (name, network) => void awayUntilMs.delete(keyOf(name, network)),
    isAway(name, network) {
      const leftMs = (awayUntilMs.get(keyOf(name, network)) ?? 0) - nowMs();
      // More is left than was ever set: the clock was set back.
      return leftMs > 0 && leftMs <= LONGEST_MS;
    },
    isDoubtful: (name, network) => awayUntilMs.has(keyOf(name, network)),
  };
}
