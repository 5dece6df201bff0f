import { readdir } from 'node:fs/promises';
import pg from 'pg';
import { type Config, type DatabaseConfig, readConfig } from './config.js';
import { postgresConnection } from './db/connection.js';
import { type Knex, openDatabase } from './db/knex.js';
import { isEntryPoint, runEntryPoint } from './entry-point.js';
import { createLogger, type Logger } from './logger.js';
import { migrateQueues } from './queues/migrate-queues.js';

/** Held while migrating, so that two releases at once take turns. */
const MIGRATION_LOCK = 7_301_202_610;

interface MigrationFile {
  name: string;
  load(): Promise<Knex.Migration>;
}

/** Brings the database up to date: our tables, and BullMQ's when the queue lives in Postgres. */
export async function migrate(config: Config, logger: Logger): Promise<void> {
  await whileLocked(config.database, async () => {
    // An index on a big table takes as long as it takes.
    const knex = openDatabase({ ...config.database, queryTimeoutMs: 0 });
    try {
      // Only the holder of our lock gets here, so a lock row of knex's own was left by a killed migration.
      await knex.migrate.forceFreeMigrationsLock(migrationConfig);
      const [, applied] = await knex.migrate.latest(migrationConfig);
      logger.info({ event: 'database.migrated', applied });
    } finally {
      await knex.destroy();
    }
    if (config.redis === undefined) await withClient(config.database, migrateQueues);
  });
}

/** A transaction's advisory lock, since a session's would not survive a pooler in transaction mode. */
async function whileLocked(database: DatabaseConfig, work: () => Promise<void>): Promise<void> {
  await withClient(database, async (client) => {
    // However long it waits: nothing else happens on this connection while the migrations run.
    await client.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0');
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await work();
    await client.query('COMMIT');
  });
}

async function withClient(
  database: DatabaseConfig,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({ ...postgresConnection(database), query_timeout: 0 });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

export async function pendingMigrations(knex: Knex): Promise<string[]> {
  const [, pending] = await knex.migrate.list(migrationConfig);
  return pending.map((migration: MigrationFile) => migration.name);
}

/** The same names from .ts and from built .js files: knex would otherwise take them for different ones. */
const migrationFiles: Knex.MigrationSource<MigrationFile> = {
  async getMigrations() {
    const folder = new URL('../migrations/', import.meta.url);
    const files = (await readdir(folder)).filter((file) => /^\d+-.*\.[jt]s$/.test(file)).sort();
    return files.map((file) => ({
      name: file.replace(/\.[jt]s$/, ''),
      load: () => import(new URL(file, folder).href),
    }));
  },
  getMigrationName: (migration) => migration.name,
  getMigration: (migration) => migration.load(),
};

export const migrationConfig: Knex.MigratorConfig = {
  migrationSource: migrationFiles,
  tableName: 'migrations',
  // While a release goes out, or back, older code meets tables that a newer one has made.
  disableMigrationsListValidation: true,
};

if (isEntryPoint(import.meta.url)) {
  await runEntryPoint(async () => {
    const config = readConfig('migrate');
    await migrate(config, createLogger(config.logLevel, 'migrate'));
  });
}
