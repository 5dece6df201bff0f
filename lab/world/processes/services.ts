import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../local/postgres/embedded-postgres.js';
import { type GuardedProcess, spawnGuarded } from '../../../local/toolchain/guarded-process.js';

/** A server of the suite's own, new and empty, which ends with the process that started it however that ends. */
export interface TestServer {
  url: string;
  stop(): Promise<void>;
}

/** Nothing here outlives a run, so nothing needs to reach the disk. */
const THROWAWAY = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: 300,
};
const PORT_ATTEMPTS = 5;

export async function startTestPostgres(
  settings: Record<string, string | number> = THROWAWAY,
): Promise<TestServer> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'stablecoin-checkout-test-'));
  await chmod(folder, 0o711); // Root's Postgres runs as another user.
  const postgres = await startEmbeddedPostgres({ dir: path.join(folder, 'postgres'), settings });
  return {
    url: postgres.url,
    async stop() {
      await stopPostgres(postgres);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function stopPostgres(postgres: EmbeddedPostgres): Promise<void> {
  await postgres.stop();
  // Not below `folder` when the temporary directory is out of the database user's reach.
  await rm(path.dirname(postgres.dataDir), { recursive: true, force: true });
}

export async function startTestRedis(): Promise<TestServer> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort();
    const redis = await spawnRedis(port);
    if (!redis.hasExited()) return { url: `redis://127.0.0.1:${port}`, stop: () => redis.stop() };
    // Between finding the port and taking it, someone else may take it.
    const portTaken = redis.recentOutput().includes('Address already in use');
    if (!portTaken || attempt === PORT_ATTEMPTS) {
      throw new Error(`redis-server did not start:\n${redis.recentOutput()}`);
    }
  }
}

/** Files that it must be able to read. */
export interface TlsFiles {
  cert: string;
  key: string;
}

/** Resolves when Redis takes connections, or has ended. */
export async function spawnRedis(port: number, tls?: TlsFiles): Promise<GuardedProcess> {
  const listens = tls === undefined ? { port } : { port: 0, 'tls-port': port, ...tlsOptions(tls) };
  // It saves nothing.
  const options = {
    ...listens,
    bind: '127.0.0.1',
    save: '',
    appendonly: 'no',
    dir: os.tmpdir(),
    daemonize: 'no',
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  let announceReady = (): void => {};
  const ready = new Promise<void>((resolve) => {
    announceReady = resolve;
  });
  const redis = spawnGuarded('redis-server', args, {
    onOutput: (text) => {
      if (text.includes('Ready to accept connections')) announceReady();
    },
  });
  await Promise.race([ready, redis.exited]);
  redis.unref();
  return redis;
}

function tlsOptions({ cert, key }: TlsFiles): Record<string, string> {
  return {
    'tls-cert-file': cert,
    'tls-key-file': key,
    'tls-ca-cert-file': cert,
    'tls-auth-clients': 'no',
  };
}

export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
