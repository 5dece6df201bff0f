import { once } from 'node:events';
import type { JobType, Queue } from 'bullmq';
import type { Config } from '../config/config.js';
import { JOB_NAMES, type JobName, type JobPayloads } from '../jobs/jobs.js';
import { lazily } from '../process/lazily.js';
import type { Logger } from '../process/logger.js';
import type { Closable } from '../process/shutdown.js';
import { within } from '../process/within.js';
import type { RedisClient } from './connection.js';
import { JOB_OPTIONS, openQueuePool, prefixOf, type QueuePool } from './queue-settings.js';

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
  /** Rejects when the store cannot be used now. */
  check(): Promise<void>;
  /** How many jobs are in each state. */
  depths(): Promise<QueueDepth[]>;
  /** All of them, for the operators' dashboard. */
  open(): Promise<Queue[]>;
}

export interface QueueDepth {
  queue: JobName;
  states: Record<string, number>;
}

/** Connections that the queues of a process share, when they live in Postgres. */
const POOL_SIZE = 4;
const ADD_WITHIN_MS = 5000;

type BullMq = typeof import('bullmq');

export const loadBullMq = lazily<BullMq>(() => import('bullmq'));

/** What both backends' queues have in common. */
interface AnyQueue {
  add(name: string, payload: object, options: { jobId: string; delay: number }): Promise<unknown>;
  getJobCounts(...states: JobType[]): Promise<Record<string, number>>;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export function openQueues(config: Config, redis: RedisClient | undefined, logger: Logger): Queues {
  const queues = new Map<JobName, AnyQueue>();
  const pool = openQueuePool(config.database, POOL_SIZE);

  /** Opened when it is first needed: BullMQ never recovers a queue that was opened while its store was away. */
  async function readyQueue(name: JobName): Promise<AnyQueue> {
    const bullMq = await loadBullMq();
    if (redis !== undefined && redis.status !== 'ready') throw new Error('Redis is not connected');
    const known = queues.get(name);
    const queue = known ?? openQueue(bullMq, name, redis, pool);
    if (known === undefined)
      queue.on('error', (error) => logger.warn({ event: 'queue.error', queue: name, err: error }));
    queues.set(name, queue);
    try {
      await queue.waitUntilReady();
      return queue;
    } catch (error) {
      queues.delete(name);
      throw error;
    }
  }

  return {
    async enqueue({ name, payload, id, delayMs = 0 }) {
      const adding = readyQueue(name).then((queue) =>
        queue.add(name, payload, { jobId: id, delay: delayMs }),
      );
      // BullMQ may wait for its store without end; whoever rings goes on, and leaves the row to the sweep.
      await within(ADD_WITHIN_MS, adding);
    },
    async check() {
      if (redis !== undefined) return await askRedis(redis);
      const queue = await readyQueue('settle-payment');
      await queue.getJobCounts('wait');
    },
    async depths() {
      return await Promise.all(
        JOB_NAMES.map(async (name) => {
          const queue = await readyQueue(name);
          return { queue: name, states: await queue.getJobCounts('wait', 'active', 'delayed', 'failed') };
        }),
      );
    },
    async open() {
      const opened = await Promise.all(JOB_NAMES.map(readyQueue));
      // The dashboard's types know one backend only; both have all that it calls.
      return opened as unknown as Queue[];
    },
    async close() {
      // BullMQ would wait for a store that is away; there is nothing to hand back.
      if (redis !== undefined && redis.status !== 'ready') return;
      await Promise.all([...queues.values()].map((queue) => queue.close()));
      await pool.close();
    },
  };
}

/**
 * Whether it answers, in a cluster the node that has the keys of a queue. A process that has begun a moment ago is
 * connecting, and one that rings for nobody yet need not have loaded BullMQ.
 */
async function askRedis(redis: RedisClient): Promise<void> {
  if (redis.status === 'connecting' || redis.status === 'connect') await once(redis, 'ready');
  await redis.exists(prefixOf('settle-payment', redis));
}

function openQueue(
  { createPostgresBackend, Queue, withBackend }: BullMq,
  name: JobName,
  redis: RedisClient | undefined,
  pool: QueuePool,
): AnyQueue {
  const options = { defaultJobOptions: JOB_OPTIONS, skipMetasUpdate: true };
  return redis === undefined
    ? new (withBackend(createPostgresBackend).Queue)(name, { ...options, connection: pool.connection })
    : new Queue(name, { ...options, connection: redis, prefix: prefixOf(name, redis) });
}
