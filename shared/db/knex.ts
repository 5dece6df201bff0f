import knexFactory, { type Knex } from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import type { DatabaseConfig } from '../config/config.js';
import type { Logger } from '../process/logger.js';
import type { CommitMemory } from './commit-memory.js';
import { postgresConnection } from './connection.js';
import { type DialectConfig, PostgresDialect } from './postgres-dialect.js';

export type { Knex };

function ignore(): void {}

export function openDatabase(
  database: DatabaseConfig,
  logger?: Logger,
  { readsClock = true, commits }: { readsClock?: boolean; commits?: CommitMemory | undefined } = {},
): Knex {
  const config: DialectConfig = {
    client: PostgresDialect,
    idleInTransactionMs: database.queryTimeoutMs,
    readsClock,
    commits,
    onDestroyed: (why) => logger?.warn({ event: 'database.connection_destroyed', why }),
    // snake_case in Postgres, camelCase in TypeScript.
    ...knexSnakeCaseMappers(),
    // Saves knex one round trip per new connection to read the version.
    version: '14',
    connection: postgresConnection(database),
    pool: { min: 0, max: database.poolSize },
    acquireConnectionTimeout: 10_000,
    // Knex would print errors to the console as well as throw them.
    log: { debug: ignore, warn: ignore, error: ignore, deprecate: ignore },
  };
  const db = knexFactory(config);
  // `runStatement` reads these settings; knex itself prepares no statements.
  db.userParams = {
    preparedStatements: database.preparedStatements,
    onStatementLost: () =>
      logger?.warn({
        event: 'database.statements_not_kept',
        hint: 'A pooler in front of Postgres loses prepared statements (PgBouncer before 1.21, or without max_prepared_statements). This process stops preparing statements. Set DATABASE_PREPARED_STATEMENTS=false, or set max_prepared_statements in the pooler.',
      }),
  };
  return db;
}

/** Knex types its pool (tarn) as `any`. */
interface Pool {
  numUsed(): number;
  numFree(): number;
  numPendingAcquires(): number;
}

export function poolUse(db: Knex): { used: number; free: number; waiting: number } {
  const pool: Pool = db.client.pool;
  return { used: pool.numUsed(), free: pool.numFree(), waiting: pool.numPendingAcquires() };
}
