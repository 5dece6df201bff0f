import type { Knex } from 'knex';
import PostgresTransaction from 'knex/lib/dialects/postgres/execution/pg-transaction.js';
import KnexPostgres from 'knex/lib/dialects/postgres/index.js';
import { markUnanswered } from './after-commit.js';
import type { CommitMemory } from './commit-memory.js';
import { destroyConnection, isIdle, type PostgresClient, waitUntilIdle } from './idle-connection.js';
import { isRefusal, keepMessage, sqlState } from './postgres-errors.js';
import { readServer } from './read-server.js';
import { readDefaults } from './session-defaults.js';

export interface DialectConfig extends Knex.Config {
  /** How long Postgres waits inside a transaction for the next statement. */
  idleInTransactionMs: number;
  /** False for a standby: the service follows the primary's clock. */
  readsClock: boolean;
  /** Remembers how far Postgres had written; undefined where nothing is decided by it. */
  commits: CommitMemory | undefined;
  onDestroyed(why: string): void;
  /** How long a statement in a transaction waits for a lock; undefined: as long as the statement may take. */
  lockTimeoutMs?: number;
}

type Statement = KnexPostgres.Statement;

/**
 * Knex's Postgres dialect with three rules. A connection is destroyed when a statement on it was abandoned, or when it
 * enters or leaves the pool in any state but idle. Postgres ends a transaction whose client is silent. Each new
 * connection reads the defaults of its session, Postgres' clock, and how far it has written, before anything else.
 */
export class PostgresDialect extends KnexPostgres {
  declare config: DialectConfig;

  override transaction(container: unknown, config: unknown, outer: unknown): Knex.Transaction {
    const transaction: unknown = new BoundedTransaction(this, container, config, outer);
    return transaction as Knex.Transaction;
  }

  override async acquireRawConnection(): Promise<PostgresClient> {
    const connection: PostgresClient = await super.acquireRawConnection();
    try {
      if (this.config.readsClock) await readServer(connection, this.config.commits);
      else await readDefaults(connection);
      return connection;
    } catch (error) {
      // The pool does not know the connection yet.
      destroyConnection(connection, 'its server could not be read');
      throw error;
    }
  }

  override _query(connection: PostgresClient, statement: Statement): Promise<Statement> {
    return super._query(connection, statement).then(requireCommitted, (error: unknown) => {
      keepMessage(error);
      this.afterFailure(connection, error);
      if (isCommit(statement) && !isRefusal(error)) markUnanswered(error);
      throw error;
    });
  }

  /** Without an answer the statement may still run: destroying the connection makes Postgres roll it back. */
  afterFailure(connection: PostgresClient, error: unknown): void {
    if (sqlState(error) === undefined) this.destroyUnused(connection, 'a statement on it was abandoned');
  }

  override async validateConnection(connection: PostgresClient): Promise<boolean> {
    if (isIdle(connection)) return true;
    this.destroyUnused(connection, 'it was not idle in the pool');
    return false;
  }

  override async releaseConnection(connection: PostgresClient): Promise<void> {
    if (!isIdle(connection) && !(await waitUntilIdle(connection)))
      this.destroyUnused(connection, 'it was not idle when it was released');
    await super.releaseConnection(connection);
  }

  destroyUnused(connection: PostgresClient, why: string): void {
    if (connection.__knex__disposed === undefined) this.config.onDestroyed(why);
    destroyConnection(connection, why);
  }
}

class BoundedTransaction extends PostgresTransaction {
  declare client: PostgresDialect;
  declare isolationLevel: string | undefined;
  declare readOnly: boolean | undefined;

  /** SET LOCAL, in the round trip of BEGIN: a pooler may give the next transaction another connection. */
  override begin(connection: unknown): Promise<unknown> {
    if (this.isolationLevel || this.readOnly)
      throw new Error('isolation levels and read-only transactions are not supported');
    const { idleInTransactionMs, lockTimeoutMs } = this.client.config;
    const lockTimeout = lockTimeoutMs === undefined ? '' : ` SET LOCAL lock_timeout = ${lockTimeoutMs};`;
    return this.query(
      connection,
      `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = ${idleInTransactionMs};${lockTimeout}`,
    );
  }
}

function isCommit({ sql }: Statement): boolean {
  return sql.startsWith('COMMIT');
}

/** Postgres answers COMMIT in a failed transaction with ROLLBACK and no error. */
function requireCommitted(statement: Statement): Statement {
  const { response } = statement;
  const isRolledBack = isCommit(statement) && !Array.isArray(response) && response?.command === 'ROLLBACK';
  if (isRolledBack) throw new Error('the transaction was rolled back by its COMMIT');
  return statement;
}
