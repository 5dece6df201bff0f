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
import { waitAtMost } from '../../shared/process/within.js';
import type { RedisClient } from '../../shared/queues/connection.js';
import { prefixOf, type QueuePool } from '../../shared/queues/queue-settings.js';
import type { StoreStateLog } from '../../shared/queues/store-state.js';

/**
 * BullMQ asks again at once for a job that its store refused to give, and a worker in Postgres that could not connect the
 * first time is told so for ever, without a moment between. Here each failure is followed by a pause, which ends when the
 * process stops; and a worker begins when its store has been reached.
 */
interface Patience {
  name: JobName;
  news: StoreStateLog;
  over: AbortSignal;
}

/** What BullMQ waits for by itself, and too long: fifteen seconds after each failure. */
class StoreAway extends Error {
  override readonly name = 'StoreAway';
}

/** When a question was cut off, as each is whose node of a cluster ends: BullMQ would wait fifteen seconds. */
const ASKED_AGAIN_MS = 1000;

/** What a stopping worker waits for its connections, once it has nothing in hand. */
const LET_GO_MS = 1000;

/** How a Redis says no; when it cannot be reached, ioredis waits for it. It does not for one node of a cluster. */
const isRefusalOfRedis = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError';

function patient<B extends IQueueBackend, C>(
  create: BackendFactory<B, C>,
  { name, news, over }: Patience,
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
        news.back(name);
        return taken;
      } catch (error) {
        if (!isPaused(error) || over.aborted) throw error;
        news.away(name, error);
        failures += 1;
        await pauseAfterFailure(failures, over);
        throw new StoreAway('the queue store does not give jobs', { cause: error });
      }
    };
    return backend;
  };
}

/** ioredis never tells the end of a connection that it was making again when it was cut off, and BullMQ waits for that. */
function leaving<B extends IQueueBackend, C>(
  create: BackendFactory<B, C>,
  { over }: Pick<Patience, 'over'>,
): BackendFactory<B, C> {
  return (...settings) => {
    const backend = create(...settings);
    const [cutOff, connectAgain, close] = [
      backend.disconnectBlocking.bind(backend),
      backend.reconnectBlocking.bind(backend),
      backend.close.bind(backend),
    ];
    backend.disconnectBlocking = async (wait) => {
      await waitAtMost(LET_GO_MS, cutOff(wait));
    };
    backend.reconnectBlocking = async () => {
      const connecting = connectAgain();
      while (!(await waitAtMost(LET_GO_MS, connecting)) && !over.aborted);
    };
    backend.close = async (force) => {
      await waitAtMost(LET_GO_MS, close(force));
    };
    return backend;
  };
}

interface Settings<Data> extends Patience {
  work: Processor<Data>;
  options: { concurrency: number; stalledInterval: number; maxStalledCount: number };
}

export function workerOnRedis<Data>(
  { name, work, options, ...rest }: Settings<Data>,
  redis: RedisClient,
): Worker {
  const isPaused = redis.isCluster ? () => true : isRefusalOfRedis;
  const bullMq = withBackend(patient(leaving(createRedisBackend, rest), { name, ...rest }, isPaused));
  // What both backends' workers have in common is all that is used of either.
  return new bullMq.Worker(name, work, {
    ...options,
    runRetryDelay: ASKED_AGAIN_MS,
    connection: redis,
    prefix: prefixOf(name, redis),
  }) as unknown as Worker;
}

/** Works when it is run. */
export function workerOnPostgres<Data>(
  { name, work, options, ...rest }: Settings<Data>,
  pool: QueuePool,
): Worker {
  const bullMq = withBackend(patient(createPostgresBackend, { name, ...rest }, () => true));
  return new bullMq.Worker(name, work, {
    ...options,
    autorun: false,
    connection: pool.connection,
  }) as unknown as Worker;
}
