import type { Logger } from '../process/logger.js';
import type { PostgresClient } from './idle-connection.js';
import type { Knex } from './knex.js';

/** For whoever keeps its queue in Postgres and so needs a connection of its own for LISTEN. */
export async function warnAboutPooler(db: Knex, logger: Logger): Promise<void> {
  // When Postgres cannot be asked, all else says so.
  if (!(await isPooled(db).catch(() => false))) return;
  logger.warn({
    event: 'config.pooled_queue',
    hint: 'Without REDIS_URL the queue lives in Postgres and needs a direct connection, and a pooler stands before DATABASE_URL: jobs are found late, by the sweep alone. Set REDIS_URL, or the address of Postgres itself.',
  });
}

/** A pooler tells each client a number of its own for the process that serves it. */
async function isPooled({ client }: Knex): Promise<boolean> {
  const connection: PostgresClient & { processID?: number | null } = await client.acquireConnection();
  try {
    const { rows } = await connection.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return rows[0]?.pid !== connection.processID;
  } catch (error) {
    client.afterFailure(connection, error);
    throw error;
  } finally {
    await client.releaseConnection(connection);
  }
}
