import type { Knex } from '../db/knex.js';
import type { Logger } from '../process/logger.js';
import { pendingMigrations } from './migration-files.js';

/** A worker has no /readyz, and its sweeps would only name the tables and columns that they lack. */
export async function warnIfNotMigrated(db: Knex, logger: Logger): Promise<void> {
  const pending = await pendingMigrations(db).catch(() => []);
  if (pending.length === 0) return;
  logger.warn({
    event: 'database.not_migrated',
    pending: pending.length,
    hint: 'The database of DATABASE_URL lacks migrations of this release: run npm run migrate. Until then requests and work that need them fail.',
  });
}
