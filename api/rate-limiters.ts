import type { Redis } from 'ioredis';
import {
  BurstyRateLimiter,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
  type RateLimiterRes,
} from 'rate-limiter-flexible';
import type { Config } from '../shared/config.js';
import type { Knex } from '../shared/db/knex.js';

/** Counts over all web processes. Rejects with a RateLimiterRes when the key used up its share. */
export interface RateLimiter {
  consume(key: string): Promise<RateLimiterRes>;
}

interface Share {
  keyPrefix: string;
  points: number;
  /** Seconds. */
  duration: number;
}

/** How long an account's burst takes to be granted anew. */
const BURST_SECONDS = 10;

/** The steady rate, and as much again as a burst now and then. */
export function openApiRateLimiter(config: Config, db: Knex, redis: Redis | undefined): RateLimiter {
  const points = config.apiRequestsPerSecond;
  return new BurstyRateLimiter(
    openLimiter({ keyPrefix: 'api', points, duration: 1 }, db, redis),
    openLimiter({ keyPrefix: 'api-burst', points, duration: BURST_SECONDS }, db, redis),
  );
}

/** Per IP address on payment links. */
export function openLinkRateLimiter(config: Config, db: Knex, redis: Redis | undefined): RateLimiter {
  return openLimiter({ keyPrefix: 'link', points: config.linkRequestsPerMinute, duration: 60 }, db, redis);
}

/**
 * While the store does not answer, each process counts for itself: a limit that is too generous for a while
 * is better than refusing merchants who did nothing wrong.
 */
function openLimiter(
  share: Share,
  db: Knex,
  redis: Redis | undefined,
): RateLimiterRedis | RateLimiterPostgres {
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
