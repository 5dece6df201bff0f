/** Parts of knex that `postgres-dialect.ts` uses and knex's types omit. */
declare module 'knex/lib/dialects/postgres/index.js' {
  import { Knex } from 'knex';

  class PostgresDialect extends Knex.Client {
    _query(connection: unknown, statement: PostgresDialect.Statement): Promise<PostgresDialect.Statement>;
  }
  namespace PostgresDialect {
    interface Statement {
      sql: string;
      /** An array when the text has several statements. */
      response?: { command: string } | { command: string }[];
    }
  }
  export = PostgresDialect;
}

declare module 'knex/lib/dialects/postgres/execution/pg-transaction.js' {
  class PostgresTransaction {
    constructor(...parts: unknown[]);
    begin(connection: unknown): Promise<unknown>;
    query(connection: unknown, sql: string): Promise<unknown>;
  }
  export = PostgresTransaction;
}
