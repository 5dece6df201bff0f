import { DelayedError, type Job, type Worker } from 'bullmq';
import type { Config } from '../../shared/config/config.js';
import type { JobName, JobPayloads } from '../../shared/jobs/jobs.js';
import type { Logger } from '../../shared/process/logger.js';
import { pauseAfterFailure } from '../../shared/process/pause.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { waitAtMost } from '../../shared/process/within.js';
import type { RedisClient } from '../../shared/queues/connection.js';
import { openQueuePool, type QueuePool } from '../../shared/queues/queue-settings.js';
import { logStoreState, type StoreStateLog } from '../../shared/queues/store-state.js';
import type { Outcome } from '../deps/outcome.js';
import { workerOnPostgres, workerOnRedis } from './patient-worker.js';

interface WorkerSettings<N extends JobName> {
  name: N;
  handle(payload: JobPayloads[N]): Promise<Outcome>;
  config: Config;
  redis: RedisClient | undefined;
  logger: Logger;
  /** Of all workers of a process. */
  news?: StoreStateLog;
}

/** A killed worker's job is taken up after this; it may then run twice, and every handler may. */
const STALLED_INTERVAL_MS = 5000;
/** A job that stalls is never given up: its row decides when it is over. */
const MAX_STALLED_COUNT = 100;

/** Of a queue in Postgres; one of them waits for LISTEN. */
const POOL_SIZE = 4;
/** What a connection that was never of use may take to close. */
const DISCARD_MS = 1000;

/** The only BullMQ worker: turns outcomes into what the queue understands. */
export function runWorker<N extends JobName>(settings: WorkerSettings<N>): Closable {
  const { name, handle, config, redis, logger, news = logStoreState(logger) } = settings;
  const running = new Set<Promise<Outcome>>();
  const work = async (job: Job<JobPayloads[N]>, token?: string): Promise<void> => {
    const handling = handle(job.data);
    running.add(handling);
    const outcome = await handling.finally(() => running.delete(handling));
    switch (outcome.kind) {
      case 'done':
        return;
      case 'again':
        await job.moveToDelayed(outcome.at.getTime(), token);
        throw new DelayedError();
    }
  };
  const stop = new AbortController();
  const options = {
    concurrency: config.workerConcurrency,
    stalledInterval: STALLED_INTERVAL_MS,
    maxStalledCount: MAX_STALLED_COUNT,
  };
  const patience = { name, work, options, news, over: stop.signal };
  const listen = (worker: Worker): void => {
    worker.on('error', (error: Error) => {
      // Said once already; and a stopping worker's last connection may outlive its store.
      if (!stop.signal.aborted && !news.isAway(name))
        logger.warn({ event: 'queue.error', queue: name, err: error });
    });
    worker.on('failed', (_job: unknown, error: Error) =>
      logger.error({ event: 'job.failed', queue: name, err: error }),
    );
  };

  if (redis === undefined) {
    const open = (pool: QueuePool): Worker => {
      const worker = workerOnPostgres(patience, pool);
      listen(worker);
      return worker;
    };
    return onceReached({ name, news, stop }, () => openQueuePool(config.database, POOL_SIZE), open);
  }
  const worker = workerOnRedis(patience, redis);
  listen(worker);
  return {
    async close() {
      stop.abort();
      const isAway = redis.status !== 'ready';
      const closed = worker.close(isAway);
      if (!isAway) return await closed;
      // BullMQ would wait for its store; what counts is what is being done.
      closed.catch(() => undefined);
      await Promise.allSettled(running);
    },
  };
}

interface Attempts {
  name: JobName;
  news: StoreStateLog;
  stop: AbortController;
}

/** A worker that has failed to reach its Postgres never does, so each try is another one. */
function onceReached(
  { name, news, stop }: Attempts,
  openPool: () => QueuePool,
  open: (pool: QueuePool) => Worker,
): Closable {
  async function start(): Promise<Closable | undefined> {
    for (let failures = 1; !stop.signal.aborted; failures += 1) {
      const pool = openPool();
      const worker = open(pool);
      const close = async (): Promise<void> => {
        await worker.close();
        await pool.close();
      };
      try {
        await worker.waitUntilReady();
        news.back(name);
        if (!stop.signal.aborted) worker.run().catch((error: unknown) => news.away(name, error));
        return { close };
      } catch (error) {
        if (!stop.signal.aborted) news.away(name, error);
        void close().catch(() => undefined);
        await pauseAfterFailure(failures, stop.signal);
      }
    }
    return undefined;
  }

  const started = start();
  return {
    async close() {
      stop.abort();
      // One that is still being reached has nothing in hand.
      if (await waitAtMost(DISCARD_MS, started)) await (await started)?.close();
    },
  };
}
