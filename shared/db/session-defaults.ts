import { ConfigError } from '../config/config.js';
import type { PostgresClient } from './idle-connection.js';

/**
 * Settings that a database or a role may give its sessions, and that the service cannot work with. A statement outside a
 * transaction runs at the default isolation level; node-postgres reads times of the ISO style only, and others as null.
 * The service cannot set them itself: a pooler refuses startup parameters, and gives the next statement another session.
 */
const NEEDED = [
  // Postgres treats `read uncommitted` as `read committed`.
  { name: 'default_transaction_isolation', value: 'read committed', fits: /^read / },
  { name: 'DateStyle', value: 'ISO', fits: /^ISO/ },
] as const;

/**
 * A database keeps the encoding that it was created with. In any other than these Postgres refuses to store most characters,
 * such as those in the answer of a webhook's receiver or of a facilitator, whose outcome would then never be written. SQL_ASCII
 * keeps every byte.
 */
const ENCODING = { name: 'server_encoding', fits: /^(UTF8|SQL_ASCII)$/ } as const;

/** Tables are found by it. Postgres says nothing of a schema in it that is missing, or that the role may not use. */
const SEARCH_PATH = 'search_path';

const NAMES = [...NEEDED.map(({ name }) => name), ENCODING.name, SEARCH_PATH];
const VALUES = NAMES.map((name) => `'${name}', current_setting('${name}')`).join(', ');

/** A column for a statement that a new connection sends anyway. */
export const SESSION_DEFAULTS = `json_build_object(${VALUES},
  'schema', current_schema(), 'alter', format('ALTER ROLE %I IN DATABASE %I', current_user, current_database())) AS defaults`;

type Name = (typeof NEEDED)[number]['name'] | typeof ENCODING.name | typeof SEARCH_PATH;

export interface SessionDefaults extends Record<Name | 'alter', string> {
  /** The first schema of the search path that the role can use. */
  schema: string | null;
}

/** Thrown while connecting. Its message has the SQL that mends the default. */
export class WrongDefaults extends ConfigError {}

export function requireDefaults(defaults: SessionDefaults): void {
  const wrong = NEEDED.filter(({ name, fits }) => !fits.test(defaults[name]));
  const lines = wrong.map(
    ({ name, value }) =>
      `DATABASE_URL must give sessions whose ${name} is '${value}', and it is '${defaults[name]}': run ${defaults.alter} SET ${name} = '${value}'; and start again.`,
  );
  if (defaults.schema === null)
    lines.push(
      `DATABASE_URL must give sessions whose search_path has a schema that exists and that the role may use, and it is '${defaults[SEARCH_PATH]}': run ${defaults.alter} SET search_path = public; or GRANT USAGE ON SCHEMA, and start again.`,
    );
  const encoding = defaults[ENCODING.name];
  if (!ENCODING.fits.test(encoding))
    lines.push(
      `DATABASE_URL must name a database whose encoding is UTF8, and it is ${encoding}: create one with CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8', move the data with pg_dump, and start again.`,
    );
  if (lines.length === 0) return;
  throw new WrongDefaults(lines.join('\n'));
}

/** Checks the defaults of a new connection that asks its server nothing else. */
export async function readDefaults(connection: Pick<PostgresClient, 'query'>): Promise<void> {
  const { rows } = await connection.query<{ defaults: SessionDefaults }>(`SELECT ${SESSION_DEFAULTS}`);
  if (rows[0] !== undefined) requireDefaults(rows[0].defaults);
}
