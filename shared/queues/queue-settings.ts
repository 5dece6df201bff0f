import type { DefaultJobOptions } from 'bullmq';
import type { JobName } from '../jobs/jobs.js';
import type { RedisClient } from './connection.js';

/** The prefix of all keys in Redis, which may be shared with other applications. */
export const QUEUE_PREFIX = 'checkout';

/**
 * In a cluster the hash tag puts all keys of a queue into one slot, as BullMQ's scripts need. The installation's name keeps
 * the jobs of two deployments on one Redis apart.
 */
export function prefixOf(queue: JobName, redis: RedisClient, installation: string): string {
  const prefix = redis.isCluster ? `{${QUEUE_PREFIX}:${queue}}` : QUEUE_PREFIX;
  return installation === '' ? prefix : `${prefix}:${installation}`;
}

/** Finished jobs are removed, so that their ids can be added again. The row holds the history. */
export const JOB_OPTIONS = {
  removeOnComplete: true,
  removeOnFail: true,
} as const satisfies DefaultJobOptions;
