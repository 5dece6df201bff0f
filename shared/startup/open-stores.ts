import type { Config } from '../config/config.js';
import type { CommitMemory } from '../db/commit-memory.js';
import type { Knex } from '../db/knex.js';
import { openReplica, type Replica } from '../db/replica.js';
import type { Breaker } from '../limits/breaker.js';
import type { Logger } from '../process/logger.js';
import { openRedis, openRedisBreaker, type RedisClient } from '../queues/connection.js';
import { openQueues, type Queues } from '../queues/enqueue.js';
import { installationNamer } from '../upkeep/installation.js';
import { type InstallationWatch, openInstallationWatch } from './watch-installation.js';

/** The stores beside Postgres' primary, as web and worker processes use them. */
interface Stores {
  replica: Replica | undefined;
  redis: RedisClient | undefined;
  /** Guards `redis`. */
  breaker: Breaker | undefined;
  /** The watch is not started yet. */
  installation: InstallationWatch;
  /** Part of the names of the queues in Redis. Asks Postgres once, and again after a failure. */
  nameInstallation(): Promise<string>;
  queues: Queues;
}

/** Opens the stores. Waits for none of them. */
export function openStores(
  config: Config,
  { db, commits }: { db: Knex; commits: CommitMemory },
  logger: Logger,
): Stores {
  const replica = config.replica && openReplica(db, config.replica, logger);
  const redis = config.redis && openRedis(config.redis, logger);
  const breaker = redis && openRedisBreaker(redis, logger);
  const nameInstallation = installationNamer(db);
  const installation = openInstallationWatch({ db, commits, redis, breaker, logger });
  const queues = openQueues(config, { redis, installation: nameInstallation }, logger);
  return { replica, redis, breaker, installation, nameInstallation, queues };
}
