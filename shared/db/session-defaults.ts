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

const VALUES = NEEDED.map(({ name }) => `'${name}', current_setting('${name}')`).join(', ');

/** A column for a statement that a new connection sends anyway. */
export const SESSION_DEFAULTS = `json_build_object(${VALUES},
  'alter', format('ALTER ROLE %I IN DATABASE %I', current_user, current_database())) AS defaults`;

export type SessionDefaults = Record<(typeof NEEDED)[number]['name'] | 'alter', string>;

/** Thrown while connecting. Its message has the SQL that mends the default. */
export class WrongDefaults extends ConfigError {}

export function requireDefaults(defaults: SessionDefaults): void {
  const wrong = NEEDED.filter(({ name, fits }) => !fits.test(defaults[name]));
  if (wrong.length === 0) return;
  const lines = wrong.map(
    ({ name, value }) =>
      `DATABASE_URL must give sessions whose ${name} is '${value}', and it is '${defaults[name]}': run ${defaults.alter} SET ${name} = '${value}'; and start again.`,
  );
  throw new WrongDefaults(lines.join('\n'));
}

/** For a connection that asks nothing else when it is new. */
export async function readDefaults(connection: Pick<PostgresClient, 'query'>): Promise<void> {
  const { rows } = await connection.query<{ defaults: SessionDefaults }>(`SELECT ${SESSION_DEFAULTS}`);
  if (rows[0] !== undefined) requireDefaults(rows[0].defaults);
}
