import knexFactory from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import type pg from 'pg';
import type { DatabaseConfig } from '../../../shared/config/config.js';
import { postgresConnection } from '../../../shared/db/connection.js';
import type { Knex } from '../../../shared/db/knex.js';
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
export async function seedInBulk(database: DatabaseConfig, counts: Counts): Promise<void> {
  const [one, other] = [openFilling(database), openFilling(database)];
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

/** One connection, without a statement timeout. */
function openFilling(database: DatabaseConfig): Knex {
  return knexFactory({
    client: 'pg',
    ...knexSnakeCaseMappers(),
    connection: { ...postgresConnection(database), query_timeout: 0 },
    pool: {
      min: 0,
      max: 1,
      afterCreate: (connection: pg.Client, done: (error: Error | null, connection: pg.Client) => void) => {
        connection.query(FILLING).then(
          () => done(null, connection),
          (error: Error) => done(error, connection),
        );
      },
    },
  });
}

function report(line: string): void {
  process.stderr.write(`${(performance.now() / 1000).toFixed(0).padStart(5)} s  ${line}\n`);
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
