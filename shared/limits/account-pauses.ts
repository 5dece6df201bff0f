import { lruCache } from './lru-cache.js';
import type { RateLimiter } from './rate-limiter.js';

/** The payment that a call is about. */
export interface About {
  network: string;
  /** The merchant's wallet. */
  account: string;
}

/** The pauses of single accounts on a network. */
interface AccountPauses {
  of(about: About): RateLimiter;
  /** How long another account of the network is paused too, because of another payer: as far as this process was told. */
  pause(ms: number, about: About, payer: string): number;
}

interface Paused extends About {
  payer: string;
  untilMs: number;
}

/** Accounts to remember, some 4 KB each with Redis, 1 KB without it. An account that is forgotten is asked to wait again. */
const MAX_ACCOUNTS = 1000;
/** A facilitator asks for at most a minute. */
const KEPT_MS = 60_000;

export function openAccountPauses(openPauses: (name: string) => RateLimiter): AccountPauses {
  const opened = lruCache<RateLimiter>(MAX_ACCOUNTS);
  const paused = lruCache<Paused>(MAX_ACCOUNTS, { ttl: KEPT_MS });
  const keyOf = ({ network, account }: About): string => `${network} ${account}`;

  function of(about: About): RateLimiter {
    const key = keyOf(about);
    const pauses = opened.get(key) ?? openPauses(key);
    opened.set(key, pauses);
    return pauses;
  }

  return {
    of,
    pause(ms, about, payer) {
      of(about).pause(ms);
      const nowMs = performance.now();
      paused.set(keyOf(about), { ...about, payer, untilMs: nowMs + ms });
      const others = [...paused.values()].filter(
        (one) => one.network === about.network && one.account !== about.account && one.payer !== payer,
      );
      return Math.min(ms, Math.max(0, ...others.map(({ untilMs }) => untilMs - nowMs)));
    },
  };
}
