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

export interface Pooler extends TestServer {
  /** Drops every statement that was prepared through the pooler. */
  loseStatements(): Promise<void>;
}

/** A pooler in transaction mode without support for prepared statements, like PgBouncer before 1.21. */
export async function startPgBouncer(
  databaseUrl: string,
  tls?: { key: string; cert: string },
): Promise<Pooler> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'stablecoin-checkout-pgbouncer-'));
  const url = new URL(databaseUrl);
  const database = url.pathname.slice(1);
  const port = await findFreePort();
  const file = path.join(folder, 'pgbouncer.ini');
  const address = postgresAddress(url);
  if (!('path' in address)) throw new Error('the Postgres of the suite listens on a socket');
  const socket = path.parse(address.path);
  const lines = [
    '[databases]',
    `${database} = host=${socket.dir} port=${socket.ext.slice(1)} dbname=${database} user=${url.username}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${POOL_SIZE}`,
  ];
  const files = [file];
  if (tls !== undefined) {
    for (const [name, text] of Object.entries(tls)) {
      files.push(path.join(folder, `${name}.pem`));
      await writeFile(path.join(folder, `${name}.pem`), text);
      lines.push(`client_tls_${name}_file = ${path.join(folder, `${name}.pem`)}`);
    }
    lines.push('client_tls_sslmode = require');
  }
  await writeFile(file, `${lines.join('\n')}\n`);
  // PgBouncer refuses to run as root, and Postgres' socket admits its owner only.
  const { uid, gid } = await stat(address.path);
  const user = process.getuid?.() === 0 ? { uid, gid } : undefined;
  if (user !== undefined) for (const one of [folder, ...files]) await chown(one, uid, gid);
  const { promise: ready, resolve: announce } = withResolvers();
  const bouncer = spawnGuarded('pgbouncer', [file], {
    user,
    onOutput: (text) => {
      if (text.includes('process up')) announce();
    },
  });
  await Promise.race([ready, bouncer.exited]);
  if (bouncer.hasExited()) throw new Error(`pgbouncer did not start:\n${bouncer.recentOutput()}`);
  const pooled = `postgres://${url.username}@127.0.0.1:${port}/${database}?sslmode=${tls === undefined ? 'disable' : 'require'}`;
  return {
    url: pooled,
    loseStatements: () => emptyEachConnection(pooled),
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
