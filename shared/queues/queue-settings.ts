import type { DefaultJobOptions } from 'bullmq';
import pg from 'pg';
import type { DatabaseConfig } from '../config.js';
import { postgresConnection } from '../db/connection.js';

/** Keeps our keys apart from whatever else lives in the same Redis. */
export const QUEUE_PREFIX = 'checkout';

/** A finished job leaves nothing behind: adding its id again must ring again, and the row holds the history. */
export const JOB_OPTIONS = {
  removeOnComplete: true,
  removeOnFail: true,
} as const satisfies DefaultJobOptions;

/**
 * A client of a pool has no listener of the pool's while it is lent out, and BullMQ adds none while it looks at its
 * schema: a connection that ended then would end the process. Whoever uses it hears of it from the next query.
 */
class LentClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }
}

/** BullMQ keeps a pool of its own for each queue and worker. */
export function queueDatabase(
  database: DatabaseConfig,
  max: number,
): { connectionString: string; max: number } {
  const { connectionString, ssl, keepAlive } = postgresConnection(database);
  return { connectionString, max, ...{ ssl, keepAlive, Client: LentClient } };
}
