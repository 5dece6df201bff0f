import type { Logger } from '../process/logger.js';
import type { PostgresClient } from './idle-connection.js';
import type { Knex } from './knex.js';
import { withConnection } from './statement.js';

/** A queue in Postgres needs LISTEN, which does not work through a pooler in transaction mode. */
export async function warnAboutPooler(db: Knex, logger: Logger): Promise<void> {
  // An unavailable Postgres is reported elsewhere.
  if (!(await isPooled(db).catch(() => false))) return;
  logger.warn({
    event: 'config.pooled_queue',
    hint: 'Without REDIS_URL the queue lives in Postgres and needs a direct connection, but DATABASE_URL goes through a pooler: only the sweep finds jobs, and late. Set REDIS_URL, or point DATABASE_URL at Postgres itself.',
  });
}

/** A pooler reports a made-up backend process id at connect time. */
async function isPooled(db: Knex): Promise<boolean> {
  return await withConnection(db, async (connection: PostgresClient & { processID?: number | null }) => {
    const { rows } = await connection.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return rows[0]?.pid !== connection.processID;
  });
}
