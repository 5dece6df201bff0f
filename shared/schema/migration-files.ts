import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Knex } from '../db/knex.js';
import { sqlState, UNDEFINED_TABLE } from '../db/postgres-errors.js';
import { runStatement, type Statement } from '../db/statement.js';
import { BUILD_FOLDER } from '../process/build-folder.js';

export interface MigrationFile {
  name: string;
  load(): Promise<Migration>;
}

/** A file that exports `config = { transaction: false }` runs without a transaction. */
export interface Migration extends Knex.Migration {
  config?: { transaction?: boolean };
}

/**
 * Statements after which no timeout of the role ends the transaction. Postgres has `transaction_timeout` from version 17 on.
 */
export const NO_TIMEOUTS = `SET LOCAL statement_timeout = 0;
  SELECT set_config(name, '0', true) FROM pg_settings WHERE name = 'transaction_timeout'`;

/**
 * A statement that waits for a table's lock blocks all later statements on the table. With lock_timeout a migration waits
 * briefly and is retried.
 */
const TIMEOUTS = `SET LOCAL lock_timeout = '500ms'; ${NO_TIMEOUTS}`;

function withTimeouts({ up, down = cannotRevert, config }: Migration): Migration {
  if (config?.transaction === false) return { up, down, config };
  const limited =
    (move: (knex: Knex) => PromiseLike<unknown>) =>
    async (knex: Knex): Promise<void> => {
      await knex.raw(TIMEOUTS);
      await move(knex);
    };
  return { up: limited(up), down: limited(down) };
}

function cannotRevert(): never {
  throw new Error('this migration cannot be reverted');
}

export function migratorConfig(list: () => Promise<MigrationFile[]>): Knex.MigratorConfig {
  const source: Knex.MigrationSource<MigrationFile> = {
    getMigrations: list,
    getMigrationName: ({ name }) => name,
    getMigration: async (file) => withTimeouts(await file.load()),
  };
  return {
    migrationSource: source,
    tableName: 'migrations',
    // During a deployment or a rollback older code runs on tables of newer migrations.
    disableMigrationsListValidation: true,
  };
}

/** Names have no extension: knex would otherwise take .ts files and built .js files for different migrations. */
async function listMigrations(): Promise<MigrationFile[]> {
  const folder = path.join(BUILD_FOLDER, 'migrations');
  const files = (await readdir(folder)).filter((file) => /^\d+-.*\.[jt]s$/.test(file)).sort();
  return files.map((file) => ({
    name: file.replace(/\.[jt]s$/, ''),
    load: () => import(pathToFileURL(path.join(folder, file)).href),
  }));
}

export const migrationConfig: Knex.MigratorConfig = migratorConfig(listMigrations);

const APPLIED: Statement = { text: 'SELECT name FROM migrations ORDER BY id DESC' };

export async function pendingMigrations(knex: Knex, config = migrationConfig): Promise<string[]> {
  const applied = new Set(await appliedMigrations(knex));
  const source = config.migrationSource;
  const names = (await source?.getMigrations([]))?.map((file) => source?.getMigrationName(file) ?? '');
  return (names ?? []).filter((name) => !applied.has(name));
}

/**
 * Newest first. Only reads, unlike knex's own list, which creates its tables: at the start of a process, or for /readyz, that
 * would be in the way of a migration run that creates them.
 */
export async function appliedMigrations(knex: Knex): Promise<string[]> {
  try {
    const rows = await runStatement<{ name: string }>(knex, APPLIED, []);
    return rows.map(({ name }) => name);
  } catch (error) {
    if (sqlState(error) === UNDEFINED_TABLE) return [];
    throw error;
  }
}
