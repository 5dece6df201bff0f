import { isIdle, type PostgresClient } from './idle-connection.js';
import type { Knex } from './knex.js';
import type { PostgresDialect } from './postgres-dialect.js';
import {
  isPreparedStatementLost,
  preparesStatements,
  stopPreparingStatements,
} from './prepared-statements.js';

/**
 * Hand-written statements skip the query builder and are prepared by name, so that each connection parses them once. They
 * use knex's pool, or the connection of the transaction.
 */
export interface Statement {
  /** Unique to the text. A statement without a name is not prepared. */
  name?: string;
  text: string;
}

export async function runStatement<Row>(
  db: Knex,
  statement: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  try {
    return await runOnce(db, statement, values);
  } catch (error) {
    if (statement.name === undefined || !isPreparedStatementLost(error)) throw error;
    stopPreparingStatements(db);
    // The error has aborted the transaction.
    if (db.isTransaction === true) throw error;
    return await runOnce(db, { text: statement.text }, values);
  }
}

async function runOnce<Row>(db: Knex, { name, text }: Statement, values: readonly unknown[]): Promise<Row[]> {
  return await withConnection(db, async (connection) => {
    // Knex's own event, so that its listeners see these statements too.
    db.client.emit('query', { sql: text, bindings: values });
    const isNamed = name !== undefined && preparesStatements(db);
    const { rows } = await connection.query({ ...(isNamed && { name }), text, values: [...values] });
    // Outside a transaction an idle connection proves that the statement was committed.
    if (db.isTransaction !== true && !isIdle(connection)) throw new Error('the statement was not committed');
    return rows as Row[];
  });
}

/** Lends a connection to statements that `runStatement` cannot run. It is destroyed when a statement on it was abandoned. */
export async function withConnection<T>(
  db: Knex,
  work: (connection: PostgresClient) => Promise<T>,
): Promise<T> {
  const client: PostgresDialect = db.client;
  const connection: PostgresClient = await client.acquireConnection();
  try {
    return await work(connection);
  } catch (error) {
    client.afterFailure(connection, error);
    throw error;
  } finally {
    await client.releaseConnection(connection);
  }
}
