import { DelayedError, type Job, type Worker } from 'bullmq';
import type { Config } from '../../shared/config/config.js';
import type { JobName, JobPayloads } from '../../shared/jobs/jobs.js';
import { hostTimeOf } from '../../shared/process/clock.js';
import type { Logger } from '../../shared/process/logger.js';
import { pauseAfterFailure } from '../../shared/process/pause.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { waitAtMost } from '../../shared/process/timeout.js';
import type { RedisClient } from '../../shared/queues/connection.js';
import { openQueuePool, type QueuePool } from '../../shared/queues/queue-pool.js';
import { logStoreState, type StoreStateLog } from '../../shared/queues/store-state.js';
import type { JobOutcome } from '../deps/job-outcome.js';
import { workerOnPostgres, workerOnRedis } from './bullmq-worker.js';

interface WorkerSettings<N extends JobName> {
  name: N;
  handle(payload: JobPayloads[N]): Promise<JobOutcome>;
  config: Config;
  redis: RedisClient | undefined;
  /** Part of the names of the queues in Redis. */
  installation: string;
  logger: Logger;
  /** Shared by the workers of a process. */
  storeState?: StoreStateLog;
}

/** After this time another worker takes the job of a killed one. The job may run twice, so handlers are idempotent. */
const STALLED_INTERVAL_MS = 5000;
/** Effectively unlimited: the row decides when its work is finished, not the job. */
const MAX_STALLED_COUNT = 100;

/** Connections to a queue in Postgres; one of them is for LISTEN. */
const POOL_SIZE = 4;
/** How long a worker that is still connecting may take to stop. */
const DISCARD_TIMEOUT_MS = 1000;

/** Runs a handler as a BullMQ worker and translates its outcome into BullMQ's terms. */
export function runWorker<N extends JobName>(settings: WorkerSettings<N>): Closable {
  const { name, handle, config, redis, installation, logger, storeState = logStoreState(logger) } = settings;
  const running = new Set<Promise<JobOutcome>>();
  const work = async (job: Job<JobPayloads[N]>, token?: string): Promise<void> => {
    const handling = handle(job.data);
    running.add(handling);
    const outcome = await handling.finally(() => running.delete(handling));
    switch (outcome.kind) {
      case 'done':
        return;
      case 'again':
        await job.moveToDelayed(hostTimeOf(outcome.at), token);
        throw new DelayedError();
    }
  };
  const stop = new AbortController();
  const options = {
    concurrency: config.workerConcurrency,
    stalledInterval: STALLED_INTERVAL_MS,
    maxStalledCount: MAX_STALLED_COUNT,
  };
  const workerSettings = { name, work, options, storeState, stopped: stop.signal };
  const listen = (worker: Worker): void => {
    worker.on('error', (error: Error) => {
      // Errors while stopping do not matter.
      if (!stop.signal.aborted) storeState.disconnected(name, error);
    });
    worker.on('failed', (_job: unknown, error: Error) =>
      logger.error({ event: 'job.failed', queue: name, err: error }),
    );
  };

  if (redis === undefined) {
    const open = (pool: QueuePool): Worker => {
      const worker = workerOnPostgres(workerSettings, pool);
      listen(worker);
      return worker;
    };
    return startWhenReachable(
      { name, storeState, stop },
      () => openQueuePool(config.database, POOL_SIZE),
      open,
    );
  }
  const worker = workerOnRedis(workerSettings, { redis, installation });
  listen(worker);
  return {
    async close() {
      stop.abort();
      const isUnavailable = redis.status !== 'ready';
      const closed = worker.close(isUnavailable);
      if (!isUnavailable) return await closed;
      // BullMQ would wait for its store; only the jobs in flight matter.
      closed.catch(() => undefined);
      await Promise.allSettled(running);
    },
  };
}

interface Attempts {
  name: JobName;
  storeState: StoreStateLog;
  stop: AbortController;
}

/** Each attempt opens a new worker: BullMQ never recovers a worker whose first connection to Postgres failed. */
function startWhenReachable(
  { name, storeState, stop }: Attempts,
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
        storeState.available(name);
        if (!stop.signal.aborted) worker.run().catch((error: unknown) => storeState.unavailable(name, error));
        return { close };
      } catch (error) {
        if (!stop.signal.aborted) storeState.unavailable(name, error);
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
      // A worker that is still connecting has no jobs in flight.
      if (await waitAtMost(DISCARD_TIMEOUT_MS, started)) await (await started)?.close();
    },
  };
}
