import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { RedisConfig } from '../config/config.js';
import { parseRedisUrl, type RedisPlace } from '../config/redis-url.js';
import { type Breaker, openBreaker } from '../limits/breaker.js';
import type { Logger } from '../process/logger.js';

/** One Redis, found by its address or by Sentinels; or a cluster, each command to which must stay in one slot. */
export type RedisClient = Redis | Cluster;

/** A connection for requests: it fails at once instead of queueing commands while Redis is away. */
export function openRedis(redis: RedisConfig, logger: Logger): RedisClient {
  const client = connect(redis, {
    enableOfflineQueue: false,
    commandTimeout: 2000,
    socketTimeout: 10_000,
    maxRetriesPerRequest: 1,
    maxRedirections: 4,
  });
  logConnectionErrors(client, logger);
  return client;
}

/** For the connection of requests, which do without Redis rather than wait for one that hangs. */
export function openRedisBreaker(client: RedisClient, logger: Logger): Breaker {
  return openBreaker({
    probe: () => client.ping(),
    onOpened: () => logger.error({ event: 'redis.silent' }),
    onClosed: () => logger.info({ event: 'redis.answers' }),
  });
}

/** A connection for BullMQ's workers, which must wait for Redis however long it is away. */
export function openWorkerRedis(redis: RedisConfig, logger: Logger): RedisClient {
  // Longer than BullMQ lets Redis wait for a job.
  const client = connect(redis, {
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
    socketTimeout: 30_000,
    maxRedirections: 16,
  });
  logConnectionErrors(client, logger);
  return client;
}

interface Patience {
  enableOfflineQueue: boolean;
  commandTimeout?: number;
  socketTimeout: number;
  maxRetriesPerRequest: number | null;
  /** Of a cluster: how often a command is tried again, at each tenth of a second, while its node is looked for. */
  maxRedirections: number;
}

/** A path that has gone silent is given up, whichever end is asked first: `keepAlive` here, `socketTimeout` above. */
function connect(
  redis: RedisConfig,
  { maxRedirections, enableOfflineQueue, ...patience }: Patience,
): RedisClient {
  const place = parseRedisUrl(redis.url);
  if (typeof place === 'string') throw new Error(`REDIS_URL ${place}`);
  const tls = place.tls ? { tls: { rejectUnauthorized: redis.verifyTls } } : {};
  const sentinelTls = tls.tls && { sentinelTLS: tls.tls, enableTLSForSentinelMode: true };
  const options = { keepAlive: 10_000, ...tls, ...patience };
  switch (place.kind) {
    case 'one':
      return new Redis(place.url, { ...options, enableOfflineQueue });
    case 'sentinel':
      return new Redis({ ...options, ...sentinelOptions(place), ...sentinelTls, enableOfflineQueue });
    case 'cluster':
      return new Cluster(place.nodes, {
        enableOfflineQueue,
        maxRedirections,
        // Certificates are made out to names.
        ...(place.tls && { dnsLookup: (name, found) => found(null, name) }),
        redisOptions: { ...options, ...place.credentials },
      });
  }
}

/** One that is master no longer is left, whether or not it has closed its connections. */
function sentinelOptions(
  place: Extract<RedisPlace, { kind: 'sentinel' }>,
): Omit<RedisOptions, 'replyMapping'> {
  const { nodes, name, db, credentials, sentinels } = place;
  return {
    sentinels: nodes,
    name,
    db,
    ...credentials,
    ...(sentinels.username !== undefined && { sentinelUsername: sentinels.username }),
    ...(sentinels.password !== undefined && { sentinelPassword: sentinels.password }),
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  };
}

/** One line when the connection breaks and one when it is back, however often it is retried between. */
function logConnectionErrors(client: RedisClient, logger: Logger): void {
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
export function warnIfRedisMayEvict(client: RedisClient, logger: Logger): void {
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
