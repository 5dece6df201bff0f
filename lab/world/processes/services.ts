import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../local/postgres/embedded-postgres.js';
import { type GuardedProcess, spawnGuarded } from '../../../local/toolchain/guarded-process.js';
import { withResolvers } from '../../../shared/process/with-resolvers.js';
import { findFreePort } from '../http/listen.js';
import { makeThrowawayFolder } from './throwaway-folder.js';

/** A new, empty server that ends with the process that started it, even after a crash. */
export interface TestServer {
  url: string;
  stop(): Promise<void>;
}

/** The data does not outlive a run, so it need not reach the disk. */
export const THROWAWAY = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: 300,
};
const PORT_ATTEMPTS = 5;

export async function startTestPostgres(
  settings: Record<string, string | number> = THROWAWAY,
): Promise<TestServer> {
  const folder =
    settings.fsync === 'off'
      ? await makeThrowawayFolder()
      : await mkdtemp(path.join(os.tmpdir(), 'stablecoin-checkout-test-'));
  await chmod(folder, 0o711); // Postgres refuses to run as root, and runs as another user.
  const postgres = await startEmbeddedPostgres({ dir: path.join(folder, 'postgres'), settings });
  return {
    url: postgres.url,
    async stop() {
      await removePostgres(postgres);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Stops a server, and removes its data. */
export async function removePostgres(postgres: EmbeddedPostgres): Promise<void> {
  await postgres.stop();
  // The data directory is elsewhere when the database user cannot enter the temporary directory.
  await rm(path.dirname(postgres.dataDir), { recursive: true, force: true });
}

export async function startTestRedis(): Promise<TestServer> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort();
    try {
      const redis = await spawnRedis(port);
      return { url: `redis://127.0.0.1:${port}`, stop: () => redis.stop() };
    } catch (error) {
      // Another process may take the port between finding and using it.
      if (attempt === PORT_ATTEMPTS || !String(error).includes('Address already in use')) throw error;
    }
  }
}

/** Paths that the server must be able to read. */
export interface TlsFiles {
  cert: string;
  key: string;
}

/** Resolves when Redis accepts connections. It keeps its data in memory only. */
export async function spawnRedis(
  port: number,
  tls?: TlsFiles,
  settings: Record<string, string | number> = {},
): Promise<GuardedProcess> {
  const own = { ...redisAddress(port, tls), save: '', appendonly: 'no', dir: os.tmpdir(), daemonize: 'no' };
  const args = Object.entries({ ...own, ...settings }).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  return await runRedis(args);
}

/** The settings of where a server listens. With TLS it accepts nothing else. */
export function redisAddress(port: number, tls: TlsFiles | undefined): Record<string, string | number> {
  const bind = '127.0.0.1';
  if (tls === undefined) return { port, bind };
  return {
    port: 0,
    'tls-port': port,
    bind,
    'tls-cert-file': tls.cert,
    'tls-key-file': tls.key,
    'tls-ca-cert-file': tls.cert,
    'tls-auth-clients': 'no',
  };
}

export async function runRedis(args: readonly string[]): Promise<GuardedProcess> {
  const { promise: ready, resolve: announceReady } = withResolvers();
  const redis = spawnGuarded('redis-server', [...args], {
    onOutput: (text) => {
      if (/Ready to accept connections|Sentinel ID is/.test(text)) announceReady();
    },
  });
  await Promise.race([ready, redis.exited]);
  if (redis.hasExited()) throw new Error(`redis-server did not start:\n${redis.recentOutput()}`);
  redis.unref();
  return redis;
}
