import type { Knex } from 'knex';
import PostgresTransaction from 'knex/lib/dialects/postgres/execution/pg-transaction.js';
import KnexPostgres from 'knex/lib/dialects/postgres/index.js';
import { correctClock, machineMs } from '../process/clock.js';
import { sqlState } from './constraints.js';
import { becomesIdle, destroyConnection, isIdle, type PostgresClient } from './idle-connection.js';

/**
 * Knex's way to Postgres, with three rules. A connection on which a statement was given up is destroyed, and so is one
 * that comes back to the pool, or would be taken from it, in any state but idle. A transaction whose client has gone
 * silent is ended by Postgres. Each new connection tells Postgres' clock, which is the primary's.
 */
export interface DialectConfig extends Knex.Config {
  /** How long Postgres waits inside a transaction for the next statement. */
  idleInTransactionMs: number;
  tellsClock: boolean;
  onDestroyed(why: string): void;
}

type Statement = KnexPostgres.Statement;

export class PostgresDialect extends KnexPostgres {
  declare config: DialectConfig;

  override transaction(container: unknown, config: unknown, outer: unknown): Knex.Transaction {
    const transaction: unknown = new BoundedTransaction(this, container, config, outer);
    return transaction as Knex.Transaction;
  }

  override async acquireRawConnection(): Promise<PostgresClient> {
    const connection: PostgresClient = await super.acquireRawConnection();
    if (!this.config.tellsClock) return connection;
    try {
      await readClock(connection);
      return connection;
    } catch (error) {
      // The pool has not heard of it yet.
      destroyConnection(connection, 'it was never asked anything else');
      throw error;
    }
  }

  override _query(connection: PostgresClient, statement: Statement): Promise<Statement> {
    return super._query(connection, statement).then(requireCommitted, (error: unknown) => {
      this.afterFailure(connection, error);
      throw error;
    });
  }

  /** When Postgres has said nothing of a statement, whatever it may still do must end with the connection. */
  afterFailure(connection: PostgresClient, error: unknown): void {
    if (sqlState(error) === undefined) this.destroyUnused(connection, 'a statement on it was given up');
  }

  override async validateConnection(connection: PostgresClient): Promise<boolean> {
    if (isIdle(connection)) return true;
    this.destroyUnused(connection, 'it was not idle in the pool');
    return false;
  }

  override async releaseConnection(connection: PostgresClient): Promise<void> {
    if (!isIdle(connection) && !(await becomesIdle(connection)))
      this.destroyUnused(connection, 'it came back in the middle of something');
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

  /** In the round trip of its BEGIN, and for this transaction only: a pooler may give the next one another connection. */
  override begin(connection: unknown): Promise<unknown> {
    if (this.isolationLevel || this.readOnly) throw new Error('no transaction here is of another mode');
    const { idleInTransactionMs } = this.client.config;
    return this.query(
      connection,
      `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${idleInTransactionMs};`,
    );
  }
}

/** Postgres answers the COMMIT of a transaction that has failed with ROLLBACK, and without an error. */
function requireCommitted(statement: Statement): Statement {
  const { response } = statement;
  const isUndone =
    statement.sql.startsWith('COMMIT') && !Array.isArray(response) && response?.command === 'ROLLBACK';
  if (isUndone) throw new Error('the transaction was rolled back by its COMMIT');
  return statement;
}

export async function readClock(connection: Pick<PostgresClient, 'query'>): Promise<void> {
  const askedAtMs = machineMs();
  const { rows } = await connection.query<{ ms: number }>(CLOCK);
  const [clock] = rows;
  if (clock !== undefined) correctClock(Number(clock.ms), { askedAtMs, answeredAtMs: machineMs() });
}

/** An answer that takes longer says little. */
const CLOCK = {
  text: 'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
  query_timeout: 5000,
};
