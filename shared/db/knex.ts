import knexFactory, { type Knex } from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import type { DatabaseConfig } from '../config.js';
import { postgresConnection } from './connection.js';

export type { Knex };

function ignore(): void {}

export function openDatabase(database: DatabaseConfig): Knex {
  const db = knexFactory({
    client: 'pg',
    // snake_case in Postgres, camelCase here.
    ...knexSnakeCaseMappers(),
    // Knex would ask each new connection for its version otherwise: a round trip that tells us nothing.
    version: '14',
    connection: postgresConnection(database),
    pool: { min: 0, max: database.poolSize },
    acquireConnectionTimeout: 10_000,
    // Knex would print what it also throws, past the log.
    log: { debug: ignore, warn: ignore, error: ignore, deprecate: ignore },
  });
  // For `runStatement`; knex itself names none.
  db.userParams = { preparedStatements: database.preparedStatements };
  return db;
}

/** Knex hands out tarn's pool as `any`. */
interface Pool {
  numUsed(): number;
  numFree(): number;
  numPendingAcquires(): number;
}

export function poolUse(db: Knex): { used: number; free: number; waiting: number } {
  const pool: Pool = db.client.pool;
  return { used: pool.numUsed(), free: pool.numFree(), waiting: pool.numPendingAcquires() };
}
