import { ConfigError, isProduction, isSet } from '../shared/config/config.js';

/** The settings of a local database, for a command whose environment names none. */
interface LocalDatabase {
  settings: Record<string, string>;
  /** Whether this call has started the database. */
  started: boolean;
  stop(): Promise<void>;
}

/** The sandbox's chain opens a merchant's token accounts at the first payment. */
const SANDBOX_SETTINGS = { CHECK_TOKEN_ACCOUNTS: 'false' };

/**
 * Returns the database of a running `npm start`; undefined when DATABASE_URL names the database. Only `--local` may start
 * one, because a command on a forgotten or throwaway database would create keys that no process knows.
 */
export async function chooseDatabase(startsLocal: boolean): Promise<LocalDatabase | undefined> {
  if (isSet('DATABASE_URL')) {
    if (!startsLocal) return undefined;
    throw new ConfigError(
      'DATABASE_URL is set: unset it to work on the local database, or leave out --local.',
    );
  }
  if (isProduction()) {
    throw new ConfigError(
      'DATABASE_URL is missing: in production it must name the database of web and workers.',
    );
  }
  const { findLocalDatabase, startLocalDatabase } = await import('../local/postgres/local-database.js');
  if (startsLocal) {
    const { url, owned, stop } = await startLocalDatabase();
    return { settings: await settingsOf(url), started: owned, stop };
  }
  const url = await findLocalDatabase();
  if (url !== undefined)
    return { settings: await settingsOf(url), started: false, stop: async () => undefined };
  throw new ConfigError(
    'There is no database: set DATABASE_URL, or start the service with npm start, or add --local to start the local database for this call.',
  );
}

async function settingsOf(url: string): Promise<Record<string, string>> {
  const { localSettings } = await import('../local/service/running-sandbox.js');
  return { ...SANDBOX_SETTINGS, DATABASE_URL: url, ...(await localSettings()) };
}

/** The host and the name in a connection URL, for the operator to read; a URL may hold passwords. */
export function describeDatabase(connectionUrl: string, local: LocalDatabase | undefined): string {
  const url = new URL(connectionUrl);
  const socket = url.searchParams.get('host');
  const host = socket ?? (url.host === '' ? 'localhost' : decodeURIComponent(url.host));
  const name = decodeURIComponent(url.pathname.slice(1)) || decodeURIComponent(url.username);
  const owner = local === undefined ? '' : local.started ? ', started for this call' : ', of npm start';
  return `Database: ${name || 'the default one'} at ${host}${owner}`;
}
