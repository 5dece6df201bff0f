import type { Knex } from './knex.js';

/**
 * The statements of the hottest paths go to Postgres as they are, past the query builder, and named, so that each
 * connection parses them once. They take the pool's connections, or inside a transaction its own.
 */
export interface Statement {
  /** Unique to its text; undefined for a text that is not worth keeping. */
  name: string | undefined;
  text: string;
}

interface Connection {
  query(query: { name?: string; text: string; values: readonly unknown[] }): Promise<{ rows: unknown[] }>;
}

export async function runStatement<Row>(
  db: Knex,
  { name, text }: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const { client } = db;
  const connection: Connection = await client.acquireConnection();
  try {
    // For whoever listens to what knex sends.
    client.emit('query', { sql: text, bindings: values });
    const isNamed = name !== undefined && db.userParams.preparedStatements === true;
    const { rows } = await connection.query({ ...(isNamed && { name }), text, values });
    return rows as Row[];
  } finally {
    await client.releaseConnection(connection);
  }
}
