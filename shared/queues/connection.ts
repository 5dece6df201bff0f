import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { RedisConfig } from '../config/config.js';
import { parseRedisUrl, type RedisAddress } from '../config/redis-url.js';
import { type Breaker, openBreaker } from '../limits/breaker.js';
import { isCertificateError } from '../process/certificate-error.js';
import { keepStringsFast } from '../process/fast-strings.js';
import type { Logger } from '../process/logger.js';

keepStringsFast();

/** A single Redis, or a cluster, where all keys of a command must lie in one hash slot. */
export type RedisClient = Redis | Cluster;

/** A connection for requests. Commands fail at once while Redis is unavailable, instead of queueing. */
export function openRedis(redis: RedisConfig, logger: Logger): RedisClient {
  const client = connect(redis, {
    enableOfflineQueue: false,
    commandTimeout: 2000,
    socketTimeout: 10_000,
    maxRetriesPerRequest: 1,
    maxRedirections: 4,
    reconnectOnError: atMostOncePer(RECONNECT_EVERY_MS, isRefusedByReplica),
  });
  logConnectionErrors(client, redis, logger);
  return client;
}

/** The breaker of the connection for requests: they go on without Redis instead of waiting for a Redis that hangs. */
export function openRedisBreaker(client: RedisClient, logger: Logger): Breaker {
  return openBreaker({
    probe: () => client.ping(),
    onOpened: () => logger.error({ event: 'redis.silent' }),
    onClosed: () => logger.info({ event: 'redis.answers' }),
  });
}

/** A connection for BullMQ's workers, which must wait for Redis however long it is unavailable. */
export function openWorkerRedis(redis: RedisConfig, logger: Logger): RedisClient {
  // socketTimeout is longer than BullMQ's blocking wait for a job.
  const client = connect(redis, {
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
    socketTimeout: 30_000,
    maxRedirections: 16,
    reconnectOnError: isRefusedByReplica,
  });
  logConnectionErrors(client, redis, logger);
  return client;
}

interface ConnectionLimits {
  enableOfflineQueue: boolean;
  commandTimeout?: number;
  socketTimeout: number;
  maxRetriesPerRequest: number | null;
  /** How often a command is retried in a cluster, every 100 ms, while its node is unknown. */
  maxRedirections: number;
  /** Whether to connect again after this error of a command. BullMQ's copies of a connection share the function. */
  reconnectOnError(error: Error): boolean;
}

/** Requests would otherwise connect again with each write to a Redis that stays a replica. */
const RECONNECT_EVERY_MS = 1000;

/**
 * Whether a former primary refused a write. It may keep its connections open for ever after a failover, while its address leads
 * to the new one. Redis 6.2 wraps the error of a script: `ERR Error running script …: -READONLY …`.
 */
export function isRefusedByReplica({ message }: Error): boolean {
  return message.includes('READONLY ');
}

function atMostOncePer(ms: number, condition: (error: Error) => boolean): (error: Error) => boolean {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (performance.now() - lastMs < ms || !condition(error)) return false;
    lastMs = performance.now();
    return true;
  };
}

/** `keepAlive` and `socketTimeout` together detect a silent network path, with commands in flight and without. */
function connect(
  redis: RedisConfig,
  { maxRedirections, enableOfflineQueue, ...limits }: ConnectionLimits,
): RedisClient {
  const address = parseRedisUrl(redis.url);
  if (typeof address === 'string') throw new Error(`REDIS_URL ${address}`);
  const tls = address.tls ? { tls: { rejectUnauthorized: redis.verifyTls } } : {};
  const sentinelTls = tls.tls && { sentinelTLS: tls.tls, enableTLSForSentinelMode: true };
  const options = { keepAlive: 10_000, ...tls, ...limits };
  switch (address.kind) {
    case 'one':
      return new Redis(address.url, { ...options, enableOfflineQueue });
    case 'sentinel':
      return new Redis({ ...options, ...sentinelOptions(address), ...sentinelTls, enableOfflineQueue });
    case 'cluster':
      return new Cluster(address.nodes, {
        enableOfflineQueue,
        maxRedirections,
        // TLS certificates name hosts, not addresses.
        ...(address.tls && { dnsLookup: (name, found) => found(null, name) }),
        redisOptions: { ...options, ...address.credentials },
      });
  }
}

function sentinelOptions(
  address: Extract<RedisAddress, { kind: 'sentinel' }>,
): Omit<RedisOptions, 'replyMapping'> {
  const { nodes, name, db, credentials, sentinels } = address;
  return {
    sentinels: nodes,
    name,
    db,
    ...credentials,
    ...(sentinels.username !== undefined && { sentinelUsername: sentinels.username }),
    ...(sentinels.password !== undefined && { sentinelPassword: sentinels.password }),
  };
}

/** Logs one line when the connection breaks and one when it is back, not one per retry. */
function logConnectionErrors(client: RedisClient, redis: RedisConfig, logger: Logger): void {
  let isAway = false;
  client.on('error', (error: Error) => {
    if (!isAway) logger.error({ event: 'redis.away', err: error, ...adviceAboutTls(error, redis) });
    isAway = true;
  });
  client.on('ready', () => {
    if (isAway) logger.info({ event: 'redis.back' });
    isAway = false;
  });
}

/** ioredis keeps the reason to itself when it can use no node of a cluster, or no Sentinel. */
const NO_NODE = /^(Failed to refresh slots cache|All sentinels are unreachable)/;
const ACCEPT_CERTIFICATE =
  'set NODE_EXTRA_CA_CERTS=<file of its authority>, or set REDIS_TLS_VERIFY=false, which accepts any certificate.';

function adviceAboutTls(error: Error, { url, verifyTls }: RedisConfig): { hint: string } | undefined {
  if (isCertificateError(error))
    return { hint: `REDIS_URL leads to a certificate that cannot be verified: ${ACCEPT_CERTIFICATE}` };
  if (NO_NODE.test(error.message) && verifyTls && /^rediss\+/.test(url))
    return {
      hint: `If the nodes of REDIS_URL can be reached and their certificate cannot be verified: ${ACCEPT_CERTIFICATE}`,
    };
  return undefined;
}

/** A Redis that evicts keys loses jobs, which the sweep finds late, and the counts of rate limits. */
export function warnIfRedisMayEvict(client: RedisClient, logger: Logger): void {
  const check = (): void => {
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
      () => undefined, // Some hosted services do not allow INFO.
    );
  };
  if (client.status === 'ready') check();
  else client.once('ready', check);
}
