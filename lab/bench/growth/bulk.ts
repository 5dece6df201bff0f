import type { DatabaseConfig } from '../../../shared/config/config.js';
import type { Knex } from '../../../shared/db/knex.js';
import { openUnhurried } from './database.js';
import { type Counts, seedDatabase } from './seed.js';

/** Settings of a seeding connection: no foreign key checks, no commit waits for the disk. */
const FILLING = `
  SET session_replication_role = replica;
  SET synchronous_commit = off;
  SET maintenance_work_mem = '1GB'`;

interface Index {
  name: string;
  definition: string;
}

/**
 * Seeds an empty, migrated database fast: two connections write, and all indexes but the constraints' are dropped first and
 * created again from their own definitions. It needs a superuser.
 */
export async function seedInBulk(
  database: DatabaseConfig,
  counts: Counts,
  report: (line: string) => void,
): Promise<void> {
  const [one, other] = [openUnhurried(database, FILLING), openUnhurried(database, FILLING)];
  try {
    await setMaxWal(one, `'16GB'`);
    const indexes = await dropIndexes(one);
    await seedDatabase(one, counts, report, other);
    const create = async (db: Knex): Promise<void> => {
      for (let index = indexes.pop(); index !== undefined; index = indexes.pop()) {
        await db.raw(index.definition);
        report(`index ${index.name}`);
      }
    };
    await Promise.all([create(one), create(other)]);
    await one.raw('ANALYZE');
    await setMaxWal(one, 'DEFAULT');
    await one.raw('CHECKPOINT');
  } finally {
    await Promise.all([one.destroy(), other.destroy()]);
  }
}

async function setMaxWal(db: Knex, size: string): Promise<void> {
  await db.raw(`ALTER SYSTEM SET max_wal_size = ${size}`);
  await db.raw('SELECT pg_reload_conf()');
}

async function dropIndexes(db: Knex): Promise<Index[]> {
  const { rows } = await db.raw<{ rows: Index[] }>(`
    SELECT indexname AS name, indexdef AS definition FROM pg_indexes
    WHERE schemaname = 'public' AND indexname NOT IN (SELECT conname FROM pg_constraint)`);
  for (const { name } of rows) await db.raw('DROP INDEX ??', [name]);
  return rows;
}
