import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Config, DatabaseConfig } from '../config/config.js';
import { postgresConnection, rethrowNamingDatabaseUrl } from '../db/connection.js';
import { type Knex, openDatabase } from '../db/knex.js';
import type { Logger } from '../process/logger.js';
import { migrateQueues } from '../queues/migrate-queues.js';
import { appliedMigrations, migrationConfig, NO_TIMEOUTS, pendingMigrations } from './migration-files.js';
import { refuseTablesByMonth } from './refuse-tables-by-month.js';
import { type MigrationRun, type MigrationTimes, runMigration } from './run-migration.js';
import { MIGRATION_APPLICATION } from './watch-migration.sql.js';

/** The advisory lock of a migration run, so that concurrent releases take turns. */
const MIGRATION_LOCK = 7_301_202_610;
/** Pause between two tries to get the lock. */
const TURN_MS = 200;
const TIMES: MigrationTimes = { logEveryMs: 10_000, lockDeadlineMs: 600_000 };

/** Brings the database up to date: our tables, and BullMQ's when the queue lives in Postgres. */
export async function migrate(
  config: Config,
  logger: Logger,
  { migrations = migrationConfig, times = TIMES }: Partial<MigrateOptions> = {},
): Promise<void> {
  await whileLocked(config.database, async () => {
    await withKnex(config.database, async (knex) => {
      await refuseTablesByMonth(knex);
      const run: MigrationRun = { knex, config: migrations, logger, times };
      // Only the holder of our lock gets here, so a lock row of knex's own was left by a killed migration.
      await knex.migrate.forceFreeMigrationsLock(migrations);
      const applied = await pendingMigrations(knex, migrations);
      for (const name of applied) await runMigration(run, 'up', name);
      logger.info({ event: 'database.migrated', applied });
    });
    if (config.redis === undefined) await withClient(config.database, migrateQueues);
  });
}

interface MigrateOptions {
  migrations: Knex.MigratorConfig;
  times: MigrationTimes;
}

/** Rolls the newest migration back. */
export async function migrateDown(config: Config, logger: Logger): Promise<string | undefined> {
  return await whileLocked(config.database, () =>
    withKnex(config.database, async (knex) => {
      await refuseTablesByMonth(knex);
      await knex.migrate.forceFreeMigrationsLock(migrationConfig);
      const [newest] = await appliedMigrations(knex);
      const run = { knex, config: migrationConfig, logger, times: TIMES };
      if (newest !== undefined) await runMigration(run, 'down', newest);
      return newest;
    }),
  );
}

async function withKnex<T>(database: DatabaseConfig, work: (knex: Knex) => Promise<T>): Promise<T> {
  // An index on a large table may take hours.
  const knex = openDatabase({ ...database, queryTimeoutMs: 0 });
  try {
    return await work(knex);
  } finally {
    await knex.destroy();
  }
}

/** A transaction's advisory lock, since a session's would not survive a pooler in transaction mode. */
async function whileLocked<T>(database: DatabaseConfig, work: () => Promise<T>): Promise<T> {
  return await withClient(database, async (client) => {
    // This connection is idle while the migrations run, so its transaction has no timeout.
    await client.query(`BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = 0;
      SET LOCAL application_name = '${MIGRATION_APPLICATION}'; ${NO_TIMEOUTS}`);
    while (!(await isLockTaken(client))) await sleep(TURN_MS);
    const result = await work();
    await client.query('COMMIT');
    return result;
  });
}

/**
 * Polls instead of waiting in Postgres: a waiting statement keeps its snapshot, and so does the portal of a statement with
 * parameters. CREATE INDEX CONCURRENTLY waits for all snapshots while its run holds the lock, which would be a deadlock.
 */
async function isLockTaken(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(
    `SELECT pg_try_advisory_xact_lock(${MIGRATION_LOCK}) AS taken`,
  );
  return rows[0]?.taken === true;
}

async function withClient<T>(database: DatabaseConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ ...postgresConnection(database), query_timeout: 0 });
  await client.connect().catch(rethrowNamingDatabaseUrl);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
