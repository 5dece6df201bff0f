import { hostNowMs } from '../process/clock.js';
import { WRONG_PASSWORDS_A_MINUTE, WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE } from './bounds.js';
import { lruCache } from './lru-cache.js';

/**
 * Limits how many wrong passwords and tokens of operators are checked in a minute, per address and in total. Beyond its own
 * limit an address is refused with correct credentials too. Beyond the total, the first try of an address is checked, and
 * more only of an address that logged in before: strangers cannot lock an operator out, and each of their addresses has one
 * guess. Each process counts separately and needs no store.
 */
export interface LoginLimiter {
  /** Whether the credentials are right. Beyond a limit they are not checked and may be sent again after `retryAfterSeconds`. */
  check(address: string, isRight: () => boolean): boolean | { retryAfterSeconds: number };
}

const WINDOW_MS = 60_000;
const KNOWN_ADDRESSES = 1000;
/** The limiter forgets older addresses, and an address that it has forgotten gets another guess in the same minute. */
const WRONG_ADDRESSES = 10_000;

/** `onLimited` is called once in each window that reaches a limit. */
export function openLoginLimiter(onLimited: () => void = () => {}): LoginLimiter {
  const wrongOf = lruCache<number>(WRONG_ADDRESSES);
  const loggedIn = lruCache<true>(KNOWN_ADDRESSES);
  let wrong = 0;
  let isReported = false;
  let window = 0;

  function turnWindow(): void {
    const current = Math.floor(hostNowMs() / WINDOW_MS);
    if (current === window) return;
    window = current;
    wrongOf.clear();
    wrong = 0;
    isReported = false;
  }

  return {
    check(address, isRight) {
      turnWindow();
      const ofAddress = wrongOf.get(address) ?? 0;
      const isTooMany = wrong >= WRONG_PASSWORDS_A_MINUTE && ofAddress > 0 && !loggedIn.has(address);
      if (isTooMany || ofAddress >= WRONG_PASSWORDS_OF_ADDRESS_A_MINUTE) {
        if (!isReported) onLimited();
        isReported = true;
        return { retryAfterSeconds: Math.ceil(((window + 1) * WINDOW_MS - hostNowMs()) / 1000) };
      }
      if (isRight()) {
        loggedIn.set(address, true);
        return true;
      }
      wrongOf.set(address, ofAddress + 1);
      wrong += 1;
      return false;
    },
  };
}
