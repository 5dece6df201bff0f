import { LRUCache } from 'lru-cache';
import { ownNowMs } from '../process/clock.js';
import { WRONG_PASSWORDS_A_MINUTE, WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE } from './bounds.js';

/**
 * Holds up who guesses an operator's password or token: after so many wrong ones in a minute, from one address or from
 * all together, even the right one is not looked at. An address that was right before is held up by its own wrong ones
 * alone, so that nobody locks the operators out. Each process counts for itself, so that it needs no store.
 */
export interface LoginLimiter {
  /** Whether what was sent is right; in how many seconds to come again when that is not said. */
  judge(address: string, isRight: () => boolean): boolean | { retryAfterSeconds: number };
}

const WINDOW_MS = 60_000;
const KNOWN_ADDRESSES = 1000;

export function createLoginLimiter(onBraked: () => void = () => {}): LoginLimiter {
  // Of one window: never more than are let through from all together.
  const wrongOf = new Map<string, number>();
  const rightBefore = new LRUCache<string, true>({ max: KNOWN_ADDRESSES });
  let wrong = 0;
  let isTold = false;
  let window = 0;

  function turnWindow(): void {
    const current = Math.floor(ownNowMs() / WINDOW_MS);
    if (current === window) return;
    window = current;
    wrongOf.clear();
    wrong = 0;
    isTold = false;
  }

  return {
    judge(address, isRight) {
      turnWindow();
      const ofAddress = wrongOf.get(address) ?? 0;
      const isTooMany = wrong >= WRONG_PASSWORDS_A_MINUTE && !rightBefore.has(address);
      if (isTooMany || ofAddress >= WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE) {
        if (!isTold) onBraked();
        isTold = true;
        return { retryAfterSeconds: Math.ceil(((window + 1) * WINDOW_MS - ownNowMs()) / 1000) };
      }
      if (isRight()) {
        rightBefore.set(address, true);
        return true;
      }
      wrongOf.set(address, ofAddress + 1);
      wrong += 1;
      return false;
    },
  };
}
