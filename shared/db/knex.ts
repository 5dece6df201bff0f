import knexFactory, { type Knex } from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import type { DatabaseConfig } from '../config/config.js';
import type { Logger } from '../process/logger.js';
import { postgresConnection } from './connection.js';
import { type DialectConfig, PostgresDialect } from './postgres-dialect.js';

export type { Knex };

function ignore(): void {}

export function openDatabase(
  database: DatabaseConfig,
  logger?: Logger,
  { tellsClock } = { tellsClock: true },
): Knex {
  const config: DialectConfig = {
    client: PostgresDialect,
    idleInTransactionMs: database.queryTimeoutMs,
    tellsClock,
    onDestroyed: (why) => logger?.warn({ event: 'database.connection_destroyed', why }),
    // snake_case in Postgres, camelCase here.
    ...knexSnakeCaseMappers(),
    // Knex would ask each new connection for its version otherwise: a round trip that tells us nothing.
    version: '14',
    connection: postgresConnection(database),
    pool: { min: 0, max: database.poolSize },
    acquireConnectionTimeout: 10_000,
    // Knex would print what it also throws, past the log.
    log: { debug: ignore, warn: ignore, error: ignore, deprecate: ignore },
  };
  const db = knexFactory(config);
  // For `runStatement`; knex itself names none.
  db.userParams = {
    preparedStatements: database.preparedStatements,
    onStatementLost: () =>
      logger?.warn({
        event: 'database.statements_not_kept',
        hint: 'A pooler that loses prepared statements stands before Postgres (PgBouncer before 1.21, or without max_prepared_statements). None is prepared from here on; set DATABASE_PREPARED_STATEMENTS=false, or mend the pooler.',
      }),
  };
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
