import { Redis } from 'ioredis';
import { type Breaker, openBreaker } from '../breaker.js';
import type { RedisConfig } from '../config.js';
import type { Logger } from '../logger.js';

export type RedisClient = Redis;

/** A connection for requests: it fails at once instead of queueing commands while Redis is away. */
export function openRedis(redis: RedisConfig, logger: Logger): Redis {
  const client = new Redis(redis.url, {
    ...redisOptions(redis),
    enableOfflineQueue: false,
    commandTimeout: 2000,
    socketTimeout: 10_000,
    maxRetriesPerRequest: 1,
  });
  logConnectionErrors(client, logger);
  return client;
}

/** Before the connection for requests: they do without Redis rather than wait for one that hangs. */
export function openRedisBreaker(client: Redis, logger: Logger): Breaker {
  return openBreaker({
    ask: () => client.ping(),
    onSilent: () => logger.error({ event: 'redis.silent' }),
    onAnswering: () => logger.info({ event: 'redis.answers' }),
  });
}

/** A connection for BullMQ's workers, which must wait for Redis however long it is away. */
export function openWorkerRedis(redis: RedisConfig, logger: Logger): Redis {
  // Longer than BullMQ lets Redis wait for a job.
  const client = new Redis(redis.url, {
    ...redisOptions(redis),
    maxRetriesPerRequest: null,
    socketTimeout: 30_000,
  });
  logConnectionErrors(client, logger);
  return client;
}

/** A path that has gone silent is given up, whichever end is asked first: `keepAlive` here, `socketTimeout` above. */
function redisOptions(redis: RedisConfig): { keepAlive: number; tls?: { rejectUnauthorized: boolean } } {
  const tls = redis.url.startsWith('rediss:') ? { rejectUnauthorized: redis.verifyTls } : undefined;
  return { keepAlive: 10_000, ...(tls && { tls }) };
}

/** One line when the connection breaks and one when it is back, however often it is retried between. */
function logConnectionErrors(client: Redis, logger: Logger): void {
  let away = false;
  client.on('error', (error: Error) => {
    if (!away) logger.error({ event: 'redis.away', err: error });
    away = true;
  });
  client.on('ready', () => {
    if (away) logger.info({ event: 'redis.back' });
    away = false;
  });
}

/** A Redis that evicts keys drops jobs. The sweep finds their rows again, but late, and limits forget what they counted. */
export function warnIfRedisMayEvict(client: Redis, logger: Logger): void {
  client.once('ready', () => {
    client.info('memory').then(
      (memory) => {
        const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
        if (policy === undefined || policy === 'noeviction') return;
        logger.warn({
          event: 'config.redis_may_evict',
          policy,
          hint: 'Set maxmemory-policy to noeviction: queues must not be evicted.',
        });
      },
      () => undefined, // Some services do not allow INFO; then nobody knows.
    );
  });
}
