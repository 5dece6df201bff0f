import { setTimeout as sleep } from 'node:timers/promises';
import { RateLimiterPostgres, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../../shared/config/config.js';
import type { Knex } from '../../shared/db/knex.js';
import {
  BALANCES_SHARE_OF_ADDRESS,
  MAX_COUNTED_IN_MEMORY,
  MAX_ENDPOINTS_PER_MODE,
  PROMPT_REFUSALS_A_MINUTE,
  REFUSED_LATER_MS,
  TRANSACTIONS_SHARE_OF_ADDRESS,
} from '../../shared/limits/bounds.js';
import type { Breaker } from '../../shared/limits/breaker.js';
import { lruCache } from '../../shared/limits/lru-cache.js';
import { batchPerTurn } from '../../shared/process/batch-per-turn.js';
import type { RedisClient } from '../../shared/queues/connection.js';
import { type Count, type Counter, countInMemory, type Share } from './memory-counters.js';
import { rowCharger } from './row-charges.js';

/** Counts requests by key, over all web processes. */
export interface RequestLimiter {
  /**
   * Takes one request of the key's share. When the share is used up, resolves with the milliseconds until it is renewed;
   * a caller that keeps asking gets this answer late, so that a flood waits for its own answers.
   */
  take(key: string): Promise<number | undefined>;
  /** Whether a request was refused when this process last asked for the key. */
  hasRefused(key: string): boolean;
}

/** The limiter of accounts, where one request may count as many. */
export interface AccountLimiter extends RequestLimiter {
  /** Takes more of the key's share for a request that `take` has granted. Resolves as `take` does, never late. */
  takeMore(key: string, more: number): Promise<number | undefined>;
}

/** Redis counts if it is configured, else Postgres. */
interface CountingStores {
  db: Knex;
  redis: RedisClient | undefined;
  /** Guards calls to Redis. */
  breaker: Breaker | undefined;
}

/** A longer rest is the trace of a clock that was set back. Smaller differences come from the processes' own clocks. */
const CLOCK_SLACK_MS = 30_000;
/** A used-up burst is granted again after this time. */
const BURST_SECONDS = 10;

/** The steady rate per second, and as many requests again as a burst. */
export function openApiRateLimiter(
  config: Pick<Config, 'apiRequestsPerSecond'>,
  stores: CountingStores,
): AccountLimiter {
  const points = config.apiRequestsPerSecond;
  const longestDebt = Math.ceil(MAX_ENDPOINTS_PER_MODE / points);
  const steady = openCounter({ keyPrefix: 'api', points, duration: 1, longestDebt }, stores);
  const burst = openCounter({ keyPrefix: 'api-burst', points, duration: BURST_SECONDS, longestDebt }, stores);
  return { ...batchCounts([steady, burst]), takeMore: rowCharger(steady, burst, BURST_SECONDS) };
}

/** The limits of one address, by `addressKey`, each per minute. */
export interface AddressLimiters {
  /** Payment links. */
  link: RequestLimiter;
  /** Unsigned transactions: each takes a call to a chain. */
  transaction: RequestLimiter;
  /** Balances of wallets: each takes a call to every network. */
  balances: RequestLimiter;
  /** Refused keys and tokens; accepted ones are not counted. */
  refusedKey: RequestLimiter;
}

export function openAddressLimiters(
  config: Pick<Config, 'linkRequestsPerMinute'>,
  stores: CountingStores,
): AddressLimiters {
  const points = config.linkRequestsPerMinute;
  const open = (keyPrefix: string, perMinute: number): RequestLimiter =>
    batchCounts([openCounter({ keyPrefix, points: perMinute, duration: 60 }, stores)]);
  return {
    link: open('link', points),
    transaction: open('transaction', Math.ceil(points / TRANSACTIONS_SHARE_OF_ADDRESS)),
    balances: open('balances', Math.ceil(points / BALANCES_SHARE_OF_ADDRESS)),
    refusedKey: open('refused-key', points),
  };
}

/**
 * While the store does not answer, each process counts in memory: a limit that is too generous for a while
 * is better than refusing merchants who did nothing wrong.
 */
function openCounter(share: Share, { db, redis, breaker }: CountingStores): Counter {
  const limiter = redis
    ? new RateLimiterRedis({ ...share, storeClient: redis, rejectIfRedisNotReady: true })
    : new RateLimiterPostgres({
        ...share,
        storeClient: db,
        storeType: 'knex',
        tableName: 'rate_limits',
        tableCreated: true,
      });
  const countHere = countInMemory(share);
  const ask = async <T>(call: () => Promise<T>): Promise<T> =>
    await (breaker === undefined ? call() : breaker.run(call));
  const consume = async (key: string, asked: number): Promise<Count> => {
    try {
      const { msBeforeNext } = await ask(() => limiter.consume(key, asked));
      return { granted: asked, msBeforeNext };
    } catch (rejection) {
      if (!(rejection instanceof RateLimiterRes)) throw rejection;
      const { consumedPoints, msBeforeNext } = rejection;
      const before = consumedPoints - asked;
      return { granted: Math.min(Math.max(share.points - before, 0), asked), msBeforeNext };
    }
  };
  const longestMs = (share.duration + (share.longestDebt ?? 0)) * 1000 + CLOCK_SLACK_MS;
  return {
    points: share.points,
    async count(key, asked) {
      try {
        const count = await consume(key, asked);
        // A share that lasts longer than its duration was begun before the store's clock was set back.
        if (count.msBeforeNext <= longestMs) return count;
        await ask(() => limiter.delete(key));
        return await consume(key, asked);
      } catch {
        return countHere.count(key, asked);
      }
    },
    async left(key) {
      try {
        const found = await ask(() => limiter.get(key));
        const { consumedPoints, msBeforeNext } = found ?? { consumedPoints: 0, msBeforeNext: 0 };
        return { granted: Math.max(share.points - consumedPoints, 0), msBeforeNext };
      } catch {
        return countHere.left(key);
      }
    },
    async useUp(key, seconds) {
      try {
        await ask(() => limiter.set(key, share.points, seconds));
      } catch {
        countHere.useUp(key, seconds);
      }
    },
  };
}

interface Asking {
  key: string;
  resolve(waitMs: number | undefined): void;
  reject(error: unknown): void;
}

/**
 * Requests of one key in the same turn of the event loop are counted in one step and granted or refused in their order.
 * Requests that the first counter refuses are counted by the next one.
 */
function batchCounts(counters: readonly Counter[]): RequestLimiter {
  const refusing = lruCache<true>(MAX_COUNTED_IN_MEMORY);
  const countRefusals = countInMemory({ points: PROMPT_REFUSALS_A_MINUTE, duration: 60 });

  async function answer(key: string, all: readonly Asking[]): Promise<void> {
    try {
      let refused = all;
      let waitMs: number | undefined;
      for (const { count } of counters) {
        const { granted, msBeforeNext } = await count(key, refused.length);
        for (const { resolve } of refused.slice(0, granted)) resolve(undefined);
        refused = refused.slice(granted);
        if (refused.length === 0) {
          refusing.delete(key);
          return;
        }
        waitMs = Math.min(waitMs ?? msBeforeNext, msBeforeNext);
      }
      refusing.set(key, true);
      const prompt = countRefusals.count(key, refused.length).granted;
      for (const { resolve } of refused.slice(0, prompt)) resolve(waitMs);
      if (prompt === refused.length) return;
      await sleep(REFUSED_LATER_MS);
      for (const { resolve } of refused.slice(prompt)) resolve(waitMs);
    } catch (error) {
      for (const { reject } of all) reject(error);
    }
  }

  const ask = batchPerTurn<Asking>((all) => {
    const askingOf = new Map<string, Asking[]>();
    for (const one of all) {
      const others = askingOf.get(one.key);
      if (others === undefined) askingOf.set(one.key, [one]);
      else others.push(one);
    }
    for (const [key, asking] of askingOf) void answer(key, asking);
  });
  return {
    take: (key) => new Promise((resolve, reject) => ask({ key, resolve, reject })),
    hasRefused: (key) => refusing.has(key),
  };
}
