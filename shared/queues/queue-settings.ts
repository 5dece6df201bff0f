import type { DefaultJobOptions, PostgresConnectionOptions } from 'bullmq';
import pg from 'pg';
import type { DatabaseConfig } from '../config/config.js';
import { postgresConnection } from '../db/connection.js';
import { isIdle } from '../db/idle-connection.js';
import type { JobName } from '../jobs/jobs.js';
import type { RedisClient } from './connection.js';

/** Keeps our keys apart from whatever else lives in the same Redis. */
export const QUEUE_PREFIX = 'checkout';

/** In a cluster all keys of a queue lie in one slot, since its scripts use several; each queue has another. */
export function prefixOf(queue: JobName, redis: RedisClient): string {
  return redis.isCluster ? `{${QUEUE_PREFIX}:${queue}}` : QUEUE_PREFIX;
}

/** A finished job leaves nothing behind: adding its id again must ring again, and the row holds the history. */
export const JOB_OPTIONS = {
  removeOnComplete: true,
  removeOnFail: true,
} as const satisfies DefaultJobOptions;

/** Where BullMQ's own migrations put its tables. */
const QUEUE_SCHEMA = 'bullmq';

/**
 * BullMQ listens to its clients' errors only while it uses them: a connection that ended in between, or while it looks
 * at its schema or closes, would end the process. Whoever uses the client hears of it from the next query.
 */
class QuietClient extends pg.Client {
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    return (event !== 'error' || this.listenerCount('error') > 0) && super.emit(event, ...args);
  }
}

/** The pool drops a client that is ending. One that waits for LISTEN is idle, and lent for as long as its worker lives. */
function endUnlessIdle(client: pg.PoolClient): void {
  if (!isIdle(client) && client instanceof pg.Client) client.end().catch(() => undefined); // It has ended by itself.
}

export interface QueuePool {
  /** For BullMQ, which does not close it. */
  connection: PostgresConnectionOptions;
  close(): Promise<void>;
}

/** Connects to nothing while nobody uses it. A worker keeps one of its connections for LISTEN. */
export function openQueuePool(database: DatabaseConfig, max: number): QueuePool {
  // BullMQ's own numbers stay as node-postgres reads them.
  const { types: _, ...settings } = postgresConnection(database);
  const options = `-c search_path=${QUEUE_SCHEMA} -c idle_in_transaction_session_timeout=${database.queryTimeoutMs}`;
  const pool = new pg.Pool({ ...settings, max, options, Client: QuietClient });
  pool.on('release', (_error, client) => endUnlessIdle(client));
  pool.on('error', () => {
    // A client that nobody uses; whoever takes another hears of it.
  });
  // What each queue would listen to it never stops listening to: one that is tried again and again adds up.
  const lent = {
    options: pool.options,
    connect: () => pool.connect(),
    query: (text: string, values?: unknown[]) => pool.query(text, values),
    on: () => lent,
    end: () => Promise.resolve(),
  };
  return {
    // It takes a pool, though its own description of one leaves no room for the real one's types.
    connection: lent as unknown as PostgresConnectionOptions,
    async close() {
      if (!pool.ending) await pool.end();
    },
  };
}
