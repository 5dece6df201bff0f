import { createPostgresBackend, Queue, withBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Config } from '../config.js';
import type { Logger } from '../logger.js';
import type { Closable } from '../shutdown.js';
import { JOB_NAMES, type JobName, type JobPayloads } from './jobs.js';
import { JOB_OPTIONS, QUEUE_PREFIX, queueDatabase } from './queue-settings.js';

export interface JobRequest<N extends JobName> {
  name: N;
  payload: JobPayloads[N];
  /** Adding an id again while its job waits, runs or is delayed does nothing. No `:` in it. */
  id: string;
  delayMs?: number;
}

/** Rings the doorbell. It may fail, and its work must then be found by the sweep. */
export interface Queues extends Closable {
  enqueue<N extends JobName>(job: JobRequest<N>): Promise<void>;
}

interface AnyQueue {
  add(name: string, payload: object, options: { jobId: string; delay: number }): Promise<unknown>;
  close(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

const PostgresBullMq = withBackend(createPostgresBackend);

export function openQueues(config: Config, redis: Redis | undefined, logger: Logger): Queues {
  const open = (name: JobName): AnyQueue =>
    redis === undefined
      ? new PostgresBullMq.Queue(name, {
          connection: queueDatabase(config.database, 2),
          defaultJobOptions: JOB_OPTIONS,
          skipMetasUpdate: true,
        })
      : new Queue(name, {
          connection: redis,
          prefix: QUEUE_PREFIX,
          defaultJobOptions: JOB_OPTIONS,
          skipMetasUpdate: true,
          skipWaitingForReady: true,
        });
  const queues = new Map<JobName, AnyQueue>();
  for (const name of JOB_NAMES) {
    const queue = open(name);
    queue.on('error', (error) => logger.warn({ event: 'queue.error', queue: name, err: error }));
    queues.set(name, queue);
  }
  return {
    async enqueue({ name, payload, id, delayMs = 0 }) {
      await queues.get(name)?.add(name, payload, { jobId: id, delay: delayMs });
    },
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}
