import { isIdle, type PostgresClient } from './idle-connection.js';
import { keepNoneFromHere, keepsStatements, wasLost } from './kept-statements.js';
import type { Knex } from './knex.js';
import type { PostgresDialect } from './postgres-dialect.js';

/**
 * The statements of the hottest paths go to Postgres as they are, past the query builder, and named, so that each
 * connection parses them once. They take the pool's connections, or inside a transaction its own.
 */
export interface Statement {
  /** Unique to its text; undefined for a text that is not worth keeping. */
  name: string | undefined;
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
    if (statement.name === undefined || !wasLost(error)) throw error;
    keepNoneFromHere(db);
    // A transaction has failed with it.
    if (db.isTransaction === true) throw error;
    return await runOnce(db, { ...statement, name: undefined }, values);
  }
}

async function runOnce<Row>(db: Knex, { name, text }: Statement, values: readonly unknown[]): Promise<Row[]> {
  const client: PostgresDialect = db.client;
  const connection: PostgresClient = await client.acquireConnection();
  try {
    // For whoever listens to what knex sends.
    client.emit('query', { sql: text, bindings: values });
    const isNamed = name !== undefined && keepsStatements(db);
    const { rows } = await connection.query({ ...(isNamed && { name }), text, values: [...values] });
    // Postgres is idle only after the commit: what is answered outside a transaction is in the ledger.
    if (db.isTransaction !== true && !isIdle(connection)) throw new Error('the statement was not committed');
    return rows as Row[];
  } catch (error) {
    client.afterFailure(connection, error);
    throw error;
  } finally {
    await client.releaseConnection(connection);
  }
}
