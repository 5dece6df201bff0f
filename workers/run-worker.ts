import { createPostgresBackend, DelayedError, type Job, Worker, withBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Config } from '../shared/config.js';
import type { JobName, JobPayloads } from '../shared/domain/jobs.js';
import type { Logger } from '../shared/logger.js';
import { openQueuePool, QUEUE_PREFIX } from '../shared/queues/queue-settings.js';
import type { Closable } from '../shared/shutdown.js';
import type { Outcome } from './outcome.js';

interface WorkerSettings<N extends JobName> {
  name: N;
  handle(payload: JobPayloads[N]): Promise<Outcome>;
  config: Config;
  redis: Redis | undefined;
  logger: Logger;
}

/** A killed worker's job is taken up after this; it may then run twice, and every handler may. */
const STALLED_INTERVAL_MS = 5000;
/** A job that stalls is never given up: its row decides when it is over. */
const MAX_STALLED_COUNT = 100;

/** Of a queue in Postgres; one of them waits for LISTEN. */
const POOL_SIZE = 4;

const PostgresBullMq = withBackend(createPostgresBackend);

/** The only BullMQ worker: turns outcomes into what the queue understands. */
export function runWorker<N extends JobName>({
  name,
  handle,
  config,
  redis,
  logger,
}: WorkerSettings<N>): Closable {
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
  const options = {
    concurrency: config.workerConcurrency,
    stalledInterval: STALLED_INTERVAL_MS,
    maxStalledCount: MAX_STALLED_COUNT,
  };
  const pool = openQueuePool(config.database, POOL_SIZE);
  const worker =
    redis === undefined
      ? new PostgresBullMq.Worker(name, work, { ...options, connection: pool.connection })
      : new Worker(name, work, { ...options, connection: redis, prefix: QUEUE_PREFIX });
  let closing = false;
  worker.on('error', (error: Error) => {
    // A stopping worker's last connection may outlive its store.
    if (!closing) logger.warn({ event: 'queue.error', queue: name, err: error });
  });
  worker.on('failed', (_job: unknown, error: Error) =>
    logger.error({ event: 'job.failed', queue: name, err: error }),
  );
  return {
    async close() {
      closing = true;
      const isAway = redis !== undefined && redis.status !== 'ready';
      const closed = worker.close(isAway);
      if (!isAway) {
        await closed;
        await pool.close();
        return;
      }
      // BullMQ would wait for its store; what counts is what is being done.
      closed.catch(() => undefined);
      await Promise.allSettled(running);
    },
  };
}
