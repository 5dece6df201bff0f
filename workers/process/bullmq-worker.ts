import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  type Processor,
  type Worker,
  withBackend,
} from 'bullmq';
import type { JobName } from '../../shared/jobs/jobs.js';
import { pauseAfterFailure } from '../../shared/process/pause.js';
import { waitAtMost } from '../../shared/process/timeout.js';
import type { RedisClient } from '../../shared/queues/connection.js';
import type { QueuePool } from '../../shared/queues/queue-pool.js';
import { prefixOf } from '../../shared/queues/queue-settings.js';
import type { StoreStateLog } from '../../shared/queues/store-state.js';

interface RetryContext {
  name: JobName;
  storeState: StoreStateLog;
  /** Aborted when the process stops. */
  stopped: AbortSignal;
}

class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The pause after a blocking read that was interrupted, as when a cluster node stops; BullMQ's default is 15 s. */
const RUN_RETRY_DELAY_MS = 1000;

/** A stopping worker without jobs in flight waits this long for its connections to close. */
const DISCONNECT_TIMEOUT_MS = 1000;

/** A reply with an error. ioredis itself waits for an unreachable Redis, but not for a single node of a cluster. */
const isRedisReplyError = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError';

/**
 * BullMQ retries at once when its store refuses to give a job, and retries a failed first connection to Postgres without
 * a pause and without success. These workers pause after each failure, until the process stops, and a worker on Postgres
 * starts once its store is reachable.
 */
function pausing<B extends IQueueBackend, C>(
  create: BackendFactory<B, C>,
  { name, storeState, stopped }: RetryContext,
  isPaused: (error: unknown) => boolean,
): BackendFactory<B, C> {
  return (...settings) => {
    const backend = create(...settings);
    const take = backend.moveToActive.bind(backend);
    let failures = 0;
    backend.moveToActive = async (...wanted) => {
      try {
        const taken = await take(...wanted);
        failures = 0;
        storeState.available(name);
        return taken;
      } catch (error) {
        if (!isPaused(error) || stopped.aborted) throw error;
        storeState.unavailable(name, error);
        failures += 1;
        await pauseAfterFailure(failures, stopped);
        throw new StoreUnavailable('the queue store does not give jobs', { cause: error });
      }
    };
    return backend;
  };
}

/** ioredis emits no `end` when it is disconnected while it reconnects, and BullMQ would wait for the event forever. */
function closable<B extends IQueueBackend, C>(
  create: BackendFactory<B, C>,
  { stopped }: Pick<RetryContext, 'stopped'>,
): BackendFactory<B, C> {
  return (...settings) => {
    const backend = create(...settings);
    const [disconnect, reconnect, close] = [
      backend.disconnectBlocking.bind(backend),
      backend.reconnectBlocking.bind(backend),
      backend.close.bind(backend),
    ];
    backend.disconnectBlocking = async (wait) => {
      await waitAtMost(DISCONNECT_TIMEOUT_MS, disconnect(wait));
    };
    backend.reconnectBlocking = async () => {
      const connecting = reconnect();
      while (!(await waitAtMost(DISCONNECT_TIMEOUT_MS, connecting)) && !stopped.aborted);
    };
    backend.close = async (force) => {
      await waitAtMost(DISCONNECT_TIMEOUT_MS, close(force));
    };
    return backend;
  };
}

interface Settings<Data> extends RetryContext {
  work: Processor<Data>;
  options: { concurrency: number; stalledInterval: number; maxStalledCount: number };
}

export function workerOnRedis<Data>(
  { name, work, options, ...rest }: Settings<Data>,
  { redis, installation }: { redis: RedisClient; installation: string },
): Worker {
  const isPaused = redis.isCluster ? () => true : isRedisReplyError;
  const bullMq = withBackend(pausing(closable(createRedisBackend, rest), { name, ...rest }, isPaused));
  // The cast is safe: callers use only the methods that the workers of both backends have.
  return new bullMq.Worker(name, work, {
    ...options,
    runRetryDelay: RUN_RETRY_DELAY_MS,
    connection: redis,
    prefix: prefixOf(name, redis, installation),
  }) as unknown as Worker;
}

/** Does not start until `run` is called. */
export function workerOnPostgres<Data>(
  { name, work, options, ...rest }: Settings<Data>,
  pool: QueuePool,
): Worker {
  const bullMq = withBackend(pausing(createPostgresBackend, { name, ...rest }, () => true));
  return new bullMq.Worker(name, work, {
    ...options,
    autorun: false,
    connection: pool.connection,
  }) as unknown as Worker;
}
