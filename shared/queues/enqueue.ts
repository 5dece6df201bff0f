import { once } from 'node:events';
import type { JobType, Queue } from 'bullmq';
import type { Config } from '../config/config.js';
import { JOB_NAMES, type JobName, type JobPayloads } from '../jobs/jobs.js';
import { lazy } from '../process/lazy.js';
import type { Logger } from '../process/logger.js';
import type { Closable } from '../process/shutdown.js';
import { withTimeout } from '../process/timeout.js';
import type { RedisClient } from './connection.js';
import { openQueuePool, type QueuePool } from './queue-pool.js';
import { JOB_OPTIONS, prefixOf } from './queue-settings.js';

export interface JobRequest<N extends JobName> {
  name: N;
  payload: JobPayloads[N];
  /** Adding an id again while its job waits, runs or is delayed does nothing. No `:` in it. */
  id: string;
  delayMs?: number;
}

/** Notifies workers of due rows. Enqueueing may fail: the sweep finds the row then. */
export interface Queues extends Closable {
  enqueue<N extends JobName>(job: JobRequest<N>): Promise<void>;
  /** Rejects while the store is unavailable, or takes no writes. */
  check(): Promise<void>;
  depths(): Promise<QueueDepth[]>;
  /** Opens the queues for the operators' dashboard. */
  open(): Promise<Queue[]>;
}

interface QueueDepth {
  queue: JobName;
  /** `paused`: the waiting jobs, while the queue is paused. */
  states: Record<string, number>;
  isPaused: boolean;
}

/** Connections of a process to queues in Postgres. */
const POOL_SIZE = 4;
const ADD_TIMEOUT_MS = 5000;

type BullMq = typeof import('bullmq');

export const loadBullMq = lazy<BullMq>(() => import('bullmq'));

/** The methods that the queues of both backends have. */
interface AnyQueue {
  add(name: string, payload: object, options: { jobId: string; delay: number }): Promise<unknown>;
  getJobCounts(...states: JobType[]): Promise<Record<string, number>>;
  isPaused(): Promise<boolean>;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

interface QueueStores {
  redis: RedisClient | undefined;
  /** Part of the names of the queues in Redis. Read when it is needed: Postgres may be unavailable when the process starts. */
  installation: () => Promise<string>;
}

export function openQueues(config: Config, { redis, installation }: QueueStores, logger: Logger): Queues {
  const queues = new Map<JobName, AnyQueue>();
  const pool = openQueuePool(config.database, POOL_SIZE);
  const errors = logFirstError(logger);

  /** Opens queues on demand: BullMQ never recovers a queue that was opened while its store was unavailable. */
  async function readyQueue(name: JobName): Promise<AnyQueue> {
    const bullMq = await loadBullMq();
    if (redis !== undefined && redis.status !== 'ready') throw new Error('Redis is not connected');
    const prefix = redis && prefixOf(name, redis, await installation());
    const known = queues.get(name);
    const queue = known ?? openQueue(bullMq, name, { redis, prefix }, pool);
    if (known === undefined) queue.on('error', (error) => errors.log(name, error));
    queues.set(name, queue);
    try {
      await queue.waitUntilReady();
      return queue;
    } catch (error) {
      if (queues.get(name) === queue) queues.delete(name);
      // A queue that is dropped without this stays in memory, as a listener of the connection.
      queue.close().catch(() => undefined);
      throw error;
    }
  }

  return {
    async enqueue({ name, payload, id, delayMs = 0 }) {
      const adding = readyQueue(name).then((queue) =>
        queue.add(name, payload, { jobId: id, delay: delayMs }),
      );
      // BullMQ may wait for its store forever; after the timeout the row is left to the sweep.
      await withTimeout(ADD_TIMEOUT_MS, adding);
      errors.reset();
    },
    async check() {
      if (redis !== undefined) await probeRedis(redis);
      else await (await readyQueue('settle-payment')).getJobCounts('wait');
      errors.reset();
    },
    async depths() {
      return await Promise.all(
        JOB_NAMES.map(async (name) => {
          const queue = await readyQueue(name);
          const [states, isPaused] = await Promise.all([
            queue.getJobCounts('wait', 'active', 'delayed', 'failed'),
            queue.isPaused(),
          ]);
          const { wait = 0 } = states;
          const waiting = isPaused ? { wait: 0, paused: wait } : { wait, paused: 0 };
          return { queue: name, states: { ...states, ...waiting }, isPaused };
        }),
      );
    },
    async open() {
      const opened = await Promise.all(JOB_NAMES.map(readyQueue));
      // The dashboard's types know only the Redis backend; both backends have the methods that it calls.
      return opened as unknown as Queue[];
    },
    async close() {
      // BullMQ would wait for an unavailable store, and there is nothing to release.
      if (redis !== undefined && redis.status !== 'ready') return;
      await Promise.all([...queues.values()].map((queue) => queue.close()));
      await pool.close();
    },
  };
}

const PROBE_EXPIRES_MS = 10_000;

/**
 * Writes, since a full Redis and a replica still answer reads. In a cluster, asks the node that holds a queue's keys. Waits
 * for a connection that is being made, and does not load BullMQ.
 */
async function probeRedis(redis: RedisClient): Promise<void> {
  if (redis.status === 'connecting' || redis.status === 'connect') await once(redis, 'ready');
  await redis.set(`${prefixOf('settle-payment', redis, '')}:write-probe`, '1', 'PX', PROBE_EXPIRES_MS);
}

/** Logs the first error of BullMQ's connections, and the next one only after the store has answered. */
function logFirstError(logger: Logger): { log(queue: JobName, error: Error): void; reset(): void } {
  let isLogged = false;
  return {
    log(queue, error) {
      if (!isLogged) logger.warn({ event: 'queue.error', queue, err: error });
      isLogged = true;
    },
    reset() {
      isLogged = false;
    },
  };
}

function openQueue(
  { createPostgresBackend, Queue, withBackend }: BullMq,
  name: JobName,
  { redis, prefix = '' }: { redis: RedisClient | undefined; prefix: string | undefined },
  pool: QueuePool,
): AnyQueue {
  const options = { defaultJobOptions: JOB_OPTIONS, skipMetasUpdate: true };
  return redis === undefined
    ? new (withBackend(createPostgresBackend).Queue)(name, { ...options, connection: pool.connection })
    : new Queue(name, { ...options, connection: redis, prefix });
}
