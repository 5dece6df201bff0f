import { chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { spawnGuarded } from '../../../local/toolchain/guarded-process.js';
import { withResolvers } from '../../../shared/process/with-resolvers.js';
import { findFreePort } from '../http/listen.js';
import { postgresAddress } from './pause-points.js';
import type { TestServer } from './services.js';

const POOL_SIZE = 8;
const MOST_CLIENTS = 1000;
/** Of one database. Below the server's `max_connections`, since other databases and clients without the pooler need some. */
const MOST_SESSIONS = 100;
const SESSION_IDLE_SECONDS = 60;

export interface Pooler extends TestServer {
  /** Drops every statement that was prepared through the pooler. */
  loseStatements(): Promise<void>;
}

/** A pooler in transaction mode without support for prepared statements, like PgBouncer before 1.21. */
export async function startPgBouncer(databaseUrl: string, tls: Record<string, string> = {}): Promise<Pooler> {
  const { pathname, username } = new URL(databaseUrl);
  const port = await findFreePort();
  const isTls = Object.keys(tls).length > 0;
  const pooler = await runPgBouncer(databaseUrl, tls, (folder) => [
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'pool_mode = transaction',
    `default_pool_size = ${POOL_SIZE}`,
    ...Object.keys(tls).map((name) => `client_tls_${name}_file = ${path.join(folder, name)}`),
    ...(isTls ? ['client_tls_sslmode = require'] : []),
  ]);
  const url = `postgres://${username}@127.0.0.1:${port}${pathname}?sslmode=${isTls ? 'require' : 'disable'}`;
  return { ...pooler, url, loseStatements: () => emptyEachConnection(url) };
}

/**
 * A pooler in session mode, for all databases of the server. Later clients get the connections of earlier ones: Postgres needs
 * longer to start the process of a connection than for most statements.
 */
export async function startSessionPooler(databaseUrl: string): Promise<TestServer> {
  const pooler = await runPgBouncer(databaseUrl, {}, (folder) => [
    `unix_socket_dir = ${folder}`,
    'pool_mode = session',
    'server_reset_query = DISCARD ALL',
    `server_idle_timeout = ${SESSION_IDLE_SECONDS}`,
    `default_pool_size = ${MOST_SESSIONS}`,
    `max_client_conn = ${MOST_CLIENTS}`,
  ]);
  const url = new URL(databaseUrl);
  // PgBouncer's default port, which names its socket.
  url.port = '6432';
  url.searchParams.set('host', pooler.folder);
  return { ...pooler, url: url.href };
}

/** Starts it with the lines of its settings, which are made for its folder. `files` are put there. */
async function runPgBouncer(
  databaseUrl: string,
  files: Record<string, string>,
  settingsIn: (folder: string) => readonly string[],
): Promise<{ folder: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'stablecoin-checkout-pgbouncer-'));
  const url = new URL(databaseUrl);
  const address = postgresAddress(url);
  if (!('path' in address)) throw new Error('the Postgres of the suite listens on a socket');
  const { dir, ext } = path.parse(address.path);
  const lines = [
    '[databases]',
    `* = host=${dir} port=${ext.slice(1)} user=${url.username}`,
    '[pgbouncer]',
    'auth_type = any',
    ...settingsIn(folder),
  ];
  const all = { ...files, 'pgbouncer.ini': `${lines.join('\n')}\n` };
  for (const [name, text] of Object.entries(all)) await writeFile(path.join(folder, name), text);
  // PgBouncer refuses to run as root, and Postgres' socket admits its owner only.
  const { uid, gid } = await stat(address.path);
  const user = process.getuid?.() === 0 ? { uid, gid } : undefined;
  if (user !== undefined)
    for (const name of ['.', ...Object.keys(all)]) await chown(path.join(folder, name), uid, gid);
  const { promise: ready, resolve: announce } = withResolvers();
  const bouncer = spawnGuarded('pgbouncer', [path.join(folder, 'pgbouncer.ini')], {
    user,
    onOutput: (text) => {
      if (text.includes('process up')) announce();
    },
  });
  await Promise.race([ready, bouncer.exited]);
  if (bouncer.hasExited()) throw new Error(`pgbouncer did not start:\n${bouncer.recentOutput()}`);
  return {
    folder,
    async stop() {
      await bouncer.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Runs one transaction in each of the pooler's connections to Postgres, all open at once. */
async function emptyEachConnection(url: string): Promise<void> {
  const clients = Array.from({ length: POOL_SIZE }, () => new pg.Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  await Promise.all(clients.map((client) => client.query('BEGIN')));
  await Promise.all(clients.map((client) => client.query('DEALLOCATE ALL')));
  await Promise.all(clients.map((client) => client.query('COMMIT')));
  await Promise.all(clients.map((client) => client.end()));
}
