import pg from 'pg';
import type { DatabaseConfig } from '../config/config.js';

const INT8_OID = 20;

export interface PostgresConnection {
  connectionString: string;
  ssl: boolean | { rejectUnauthorized: boolean };
  keepAlive: boolean;
  keepAliveInitialDelayMillis: number;
  connectionTimeoutMillis: number;
  query_timeout: number;
  types: { getTypeParser: typeof typeParser };
}

/**
 * One way to reach Postgres for knex, BullMQ and the CLI. No startup parameters beyond what node-postgres
 * always sends, so that a pooler in transaction mode can stand between.
 * TLS follows the URL's sslmode; DATABASE_TLS_VERIFY=false turns TLS on and accepts any certificate.
 */
export function postgresConnection(database: DatabaseConfig): PostgresConnection {
  const url = new URL(database.url);
  const sslmode = url.searchParams.get('sslmode');
  // node-postgres would let the URL's sslmode override the `ssl` below.
  for (const name of ['sslmode', 'ssl', 'uselibpqcompat']) url.searchParams.delete(name);
  const wantsTls = sslmode !== null && sslmode !== 'disable';
  const ssl = database.verifyTls && sslmode !== 'no-verify' ? wantsTls : { rejectUnauthorized: false };
  return {
    connectionString: url.href,
    ssl,
    keepAlive: true,
    // The other end of a path that is gone is found to be so within half a minute.
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 5000,
    query_timeout: database.queryTimeoutMs,
    types: { getTypeParser: typeParser },
  };
}

/** bigint columns hold cents below 2^53: numbers, not node-postgres' strings. Other drivers in this process keep theirs. */
function typeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === INT8_OID) return Number;
  return pg.types.getTypeParser(oid, format as 'text');
}
