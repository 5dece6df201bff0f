import type { Redis } from 'ioredis';
import {
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible';
import type { Config } from '../shared/config.js';
import type { Knex } from '../shared/db/knex.js';
import { collectForOneTurn } from '../shared/one-turn.js';

/** Counts over all web processes. */
export interface RateLimiter {
  /** One of the key's share; when it is used up, in how many milliseconds to come again. */
  take(key: string): Promise<number | undefined>;
}

interface Share {
  keyPrefix: string;
  points: number;
  /** Seconds. */
  duration: number;
}

type StoreLimiter = RateLimiterRedis | RateLimiterPostgres;

/** How long an account's burst takes to be granted anew. */
const BURST_SECONDS = 10;

/** The steady rate, and as much again as a burst now and then. */
export function openApiRateLimiter(config: Config, db: Knex, redis: Redis | undefined): RateLimiter {
  const points = config.apiRequestsPerSecond;
  return countTogether([
    openLimiter({ keyPrefix: 'api', points, duration: 1 }, db, redis),
    openLimiter({ keyPrefix: 'api-burst', points, duration: BURST_SECONDS }, db, redis),
  ]);
}

/** Per IP address on payment links. */
export function openLinkRateLimiter(config: Config, db: Knex, redis: Redis | undefined): RateLimiter {
  const points = config.linkRequestsPerMinute;
  return countTogether([openLimiter({ keyPrefix: 'link', points, duration: 60 }, db, redis)]);
}

/**
 * While the store does not answer, each process counts for itself: a limit that is too generous for a while
 * is better than refusing merchants who did nothing wrong.
 */
function openLimiter(share: Share, db: Knex, redis: Redis | undefined): StoreLimiter {
  const insuranceLimiter = new RateLimiterMemory(share);
  if (redis !== undefined) {
    return new RateLimiterRedis({
      ...share,
      storeClient: redis,
      rejectIfRedisNotReady: true,
      insuranceLimiter,
    });
  }
  return new RateLimiterPostgres({
    ...share,
    storeClient: db,
    storeType: 'knex',
    tableName: 'rate_limits',
    tableCreated: true,
    insuranceLimiter,
  });
}

interface Asking {
  key: string;
  resolve(waitMs: number | undefined): void;
  reject(error: unknown): void;
}

/**
 * Requests of one key that come in the same turn of the event loop are counted in one step, and are granted or refused
 * in their order, as if each had asked alone. What the first limiter refuses is asked of the next.
 */
function countTogether(limiters: readonly StoreLimiter[]): RateLimiter {
  async function answer(key: string, all: readonly Asking[]): Promise<void> {
    try {
      let refused = all;
      let waitMs: number | undefined;
      for (const limiter of limiters) {
        const { granted, msBeforeNext } = await count(limiter, key, refused.length);
        for (const { resolve } of refused.slice(0, granted)) resolve(undefined);
        refused = refused.slice(granted);
        if (refused.length === 0) return;
        waitMs = Math.min(waitMs ?? msBeforeNext, msBeforeNext);
      }
      for (const { resolve } of refused) resolve(waitMs);
    } catch (error) {
      for (const { reject } of all) reject(error);
    }
  }

  const ask = collectForOneTurn<Asking>((all) => {
    const askingOf = new Map<string, Asking[]>();
    for (const one of all) {
      const others = askingOf.get(one.key);
      if (others === undefined) askingOf.set(one.key, [one]);
      else others.push(one);
    }
    for (const [key, asking] of askingOf) void answer(key, asking);
  });
  return { take: (key) => new Promise((resolve, reject) => ask({ key, resolve, reject })) };
}

/** How many of so many are within the limit. */
async function count(
  limiter: StoreLimiter,
  key: string,
  points: number,
): Promise<{ granted: number; msBeforeNext: number }> {
  try {
    const { msBeforeNext } = await limiter.consume(key, points);
    return { granted: points, msBeforeNext };
  } catch (rejection) {
    if (!(rejection instanceof RateLimiterRes)) throw rejection;
    const { consumedPoints, msBeforeNext } = rejection;
    const before = consumedPoints - points;
    return { granted: Math.min(Math.max(limiter.points - before, 0), points), msBeforeNext };
  }
}
