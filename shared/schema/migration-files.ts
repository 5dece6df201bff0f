import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Knex } from '../db/knex.js';
import { BUILD_FOLDER } from '../process/build-folder.js';

export interface MigrationFile {
  name: string;
  load(): Promise<Migration>;
}

/** One without a transaction says `export const config = { transaction: false }`. */
export interface Migration extends Knex.Migration {
  config?: { transaction?: boolean };
}

/**
 * Whoever waits for a table's lock holds up all who come after. A migration waits for so long in one go, lets them
 * through, and comes back; how long its statements take is its own affair, whatever the role's default says.
 */
const BOUNDS = `SET LOCAL lock_timeout = '500ms'; SET LOCAL statement_timeout = 0`;

function bounded({ up, down = noWayBack, config }: Migration): Migration {
  if (config?.transaction === false) return { up, down, config };
  const within =
    (move: (knex: Knex) => PromiseLike<unknown>) =>
    async (knex: Knex): Promise<void> => {
      await knex.raw(BOUNDS);
      await move(knex);
    };
  return { up: within(up), down: within(down) };
}

function noWayBack(): never {
  throw new Error('this migration has no way back');
}

export function migratorConfig(list: () => Promise<MigrationFile[]>): Knex.MigratorConfig {
  const source: Knex.MigrationSource<MigrationFile> = {
    getMigrations: list,
    getMigrationName: ({ name }) => name,
    getMigration: async (file) => bounded(await file.load()),
  };
  return {
    migrationSource: source,
    tableName: 'migrations',
    // While a release goes out, or back, older code meets tables that a newer one has made.
    disableMigrationsListValidation: true,
  };
}

/** The same names from .ts and from built .js files: knex would otherwise take them for different ones. */
async function ourMigrations(): Promise<MigrationFile[]> {
  const folder = path.join(BUILD_FOLDER, 'migrations');
  const files = (await readdir(folder)).filter((file) => /^\d+-.*\.[jt]s$/.test(file)).sort();
  return files.map((file) => ({
    name: file.replace(/\.[jt]s$/, ''),
    load: () => import(pathToFileURL(path.join(folder, file)).href),
  }));
}

export const migrationConfig: Knex.MigratorConfig = migratorConfig(ourMigrations);

export async function pendingMigrations(knex: Knex, config = migrationConfig): Promise<string[]> {
  const [, pending] = await knex.migrate.list(config);
  return pending.map((migration: MigrationFile) => migration.name);
}

/** The newest first. */
export async function appliedMigrations(knex: Knex, config = migrationConfig): Promise<string[]> {
  const [applied] = await knex.migrate.list(config);
  return applied.map(({ name }: { name: string }) => name).reverse();
}
