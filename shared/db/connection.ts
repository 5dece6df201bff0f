import pg from 'pg';
import { ConfigError, type DatabaseConfig } from '../config/config.js';
import { isCertificateError } from '../process/certificate-error.js';

const INT8_OID = 20;

interface PostgresConnection {
  connectionString: string;
  ssl: boolean | { rejectUnauthorized: boolean };
  keepAlive: boolean;
  keepAliveInitialDelayMillis: number;
  connectionTimeoutMillis: number;
  query_timeout: number;
  types: { getTypeParser: typeof typeParser };
}

/**
 * The connection settings of knex, BullMQ and the CLI. No startup parameters beyond those of node-postgres, since a
 * pooler in transaction mode refuses others.
 * TLS follows the URL's sslmode, or its `ssl` where it has none; DATABASE_TLS_VERIFY=false turns TLS on and accepts any
 * certificate.
 */
export function postgresConnection(database: DatabaseConfig): PostgresConnection {
  const url = new URL(database.url);
  const sslmode = url.searchParams.get('sslmode') ?? sslmodeOf(url.searchParams.get('ssl'));
  // node-postgres would let the URL's sslmode override the `ssl` below.
  for (const name of ['sslmode', 'ssl', 'uselibpqcompat']) url.searchParams.delete(name);
  const wantsTls = sslmode !== 'disable';
  const ssl = database.verifyTls && sslmode !== 'no-verify' ? wantsTls : { rejectUnauthorized: false };
  return {
    connectionString: url.href,
    ssl,
    keepAlive: true,
    // Detects a broken network path within about 30 s.
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 5000,
    query_timeout: database.queryTimeoutMs,
    types: { getTypeParser: typeParser },
  };
}

/** `ssl=true`, `ssl=1` and `ssl=0` are node-postgres' own; `ssl=require` and others are those of more drivers. */
function sslmodeOf(ssl: string | null): string {
  if (ssl === null || ['', 'false', '0', 'disable'].includes(ssl)) return 'disable';
  return ssl === 'no-verify' ? ssl : 'require';
}

/** bigint columns hold cents below 2^53 and are read as numbers. Set per connection: BullMQ expects node-postgres' strings. */
function typeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === INT8_OID) return Number;
  return pg.types.getTypeParser(oid, format as 'text');
}

/** Names the variable to check where a start fails at its first contact with Postgres. */
export function rethrowNamingDatabaseUrl(error: unknown): never {
  if (error instanceof ConfigError || !(error instanceof Error)) throw error;
  throw new Error(whyUnusable(error), { cause: error });
}

/** A sentence for operators, which says what to change about TLS where the error is about that. */
export function whyUnusable(error: Error): string {
  const advice = adviceAboutTls(error);
  return `The database of DATABASE_URL cannot be used: ${error.message}${advice === undefined ? '' : `. ${advice}`}`;
}

function adviceAboutTls(error: Error): string | undefined {
  if (isCertificateError(error))
    return 'Add sslrootcert=<file of its authority> to the URL, or set DATABASE_TLS_VERIFY=false, which accepts any certificate.';
  if ('code' in error && error.code === '28000' && /no encryption|SSL off/.test(error.message))
    return 'If it takes connections with TLS only, add sslmode=require to the URL.';
  if (/does not support SSL/.test(error.message))
    return 'Remove sslmode and ssl from the URL, and unset DATABASE_TLS_VERIFY, to connect without TLS.';
  return undefined;
}
