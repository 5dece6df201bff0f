import { randomBytes } from 'node:crypto';
import { readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHILD_ENVIRONMENT } from '../toolchain/child-environment.js';
import { type GuardedProcess, spawnGuarded } from '../toolchain/guarded-process.js';
import { isAlive } from '../toolchain/is-alive.js';
import { fallbackFolder, openDatabaseFolder, openSocketFolder } from './database-folder.js';
import { connectionUrl, ensureDatabase } from './ensure-database.js';
import { initCluster } from './init-cluster.js';
import { findPostgresBinaries } from './postgres-binaries.js';
import { clearStaleLocks, findRunningPostmaster, type RunningPostmaster } from './postmaster-pid.js';

/**
 * A real Postgres for a machine without one. It ends with the process that started it. A second process on the same
 * folder uses the first one's server (`owned` is false) and loses it when that process ends. It listens on a socket in
 * a private folder, on no port. Close every pool before `stop()`: a client that is still connected gets 57P01.
 */
export interface EmbeddedPostgres {
  url: string;
  dataDir: string;
  /** True when this process started the server, and ends it. */
  owned: boolean;
  version: string;
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Contains the cluster, in a folder named after Postgres' major version: another version starts another cluster. */
  dir: string;
  database?: string;
  settings?: Record<string, string | number>;
  /** Where root keeps the data of a checkout that the database's user cannot enter. */
  fallbackBase?: string;
  /** Use the `initdb` and `postgres` of this folder. */
  binDir?: string;
}

const SUPERUSER = 'app';
const DATABASE = 'app';
const FALLBACK_BASE = '/var/lib/stablecoin-checkout';
const START_TIMEOUT_MS = 60_000;
const LONGEST_PAUSE_MS = 100;

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dir, database = DATABASE, settings = {}, binDir } = options;
  const { fallbackBase = FALLBACK_BASE } = options;
  const { base, user } = await openDatabaseFolder(dir, fallbackBase);
  const { bin, version, major } = await findPostgresBinaries({ user, copyInto: base, binDir });
  const dataDir = path.join(base, `pg${major}`);
  const socketDir = await openSocketFolder(dataDir, user);
  const extraArgs = settings.fsync === 'off' ? ['--no-sync'] : [];
  await initCluster({ bin, dataDir, superuser: SUPERUSER, user, extraArgs });

  const startServer = (clusterName: string): GuardedProcess => {
    const parameters = {
      listen_addresses: '',
      port: 5432, // part of the socket's name; no port is opened
      unix_socket_directories: socketDir,
      unix_socket_permissions: '0700',
      max_connections: 100,
      timezone: 'UTC',
      ...settings,
      cluster_name: clusterName,
    };
    const args = Object.entries(parameters).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const environment = CHILD_ENVIRONMENT;
    return spawnGuarded(path.join(bin, 'postgres'), ['-D', dataDir, ...args], { user, environment });
  };
  const reached = await reachServer({ dataDir, socketDir, database, startServer });
  return {
    url: connectionUrl(SUPERUSER, reached.socketDir, database),
    dataDir,
    owned: reached.server !== undefined,
    version,
    async stop() {
      await reached.server?.stop();
    },
  };
}

const ATTACH_TIMEOUT_MS = 15_000;

/** The URL of a server that runs on the folder, or undefined when none does. It starts, installs and writes nothing. */
export async function findEmbeddedPostgres({
  dir,
  fallbackBase = FALLBACK_BASE,
}: Pick<EmbeddedPostgresOptions, 'dir' | 'fallbackBase'>): Promise<string | undefined> {
  const base = await realpath(dir).catch(() => undefined);
  if (base === undefined) return undefined;
  const timeout = AbortSignal.timeout(ATTACH_TIMEOUT_MS);
  while (!timeout.aborted) {
    const running = await findPostmaster([base, fallbackFolder(base, fallbackBase)]);
    if (running === undefined) return undefined;
    if (running.socketDir !== undefined) {
      const answer = await ensureDatabase(connectionUrl(SUPERUSER, running.socketDir, 'postgres'), DATABASE);
      if (answer.ready) {
        const url = connectionUrl(SUPERUSER, running.socketDir, DATABASE);
        return isOwnerAlive(answer.clusterName) ? url : undefined;
      }
    }
    await sleep(LONGEST_PAUSE_MS);
  }
  throw new Error(`The database in ${base} runs, and does not answer.`);
}

async function findPostmaster(bases: readonly string[]): Promise<RunningPostmaster | undefined> {
  for (const base of bases) {
    const names = await readdir(base).catch(() => []);
    for (const name of names.filter((one) => /^pg\d+$/.test(one))) {
      const running = await findRunningPostmaster(path.join(base, name));
      if (running !== undefined) return running;
    }
  }
  return undefined;
}

interface ReachOptions {
  dataDir: string;
  socketDir: string;
  database: string;
  startServer(clusterName: string): GuardedProcess;
}

interface ReachedServer {
  socketDir: string;
  /** Undefined when another process owns the server. */
  server: GuardedProcess | undefined;
}

/**
 * Uses the server that runs on the folder, or starts one. Each attempt reads the state again, since it may change in
 * between: a running server may be stopping after its owner was killed, or another process may start one first.
 */
async function reachServer({
  dataDir,
  socketDir,
  database,
  startServer,
}: ReachOptions): Promise<ReachedServer> {
  // Distinguishes this process's server from a server that another process started on the same folder.
  const clusterName = `embedded-${process.pid}-${randomBytes(8).toString('hex')}`;
  const timeout = AbortSignal.timeout(START_TIMEOUT_MS);
  let server: GuardedProcess | undefined;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const running = await findRunningPostmaster(dataDir);
    if (running === undefined && server === undefined) {
      await clearStaleLocks(dataDir, socketDir);
      server = startServer(clusterName);
      server.unref();
    }
    const currentSocketDir = running?.socketDir ?? socketDir;
    const answer = await ensureDatabase(connectionUrl(SUPERUSER, currentSocketDir, 'postgres'), database);
    if (answer.ready && answer.clusterName === clusterName) return { socketDir: currentSocketDir, server };
    // A server whose owner was killed is about to stop.
    if (answer.ready && isOwnerAlive(answer.clusterName)) {
      await server?.stop();
      return { socketDir: currentSocketDir, server: undefined };
    }
    if (server?.hasExited()) {
      if (!lostToAnother(server.recentOutput())) throw startError(dataDir, 'It ended at once.', server);
      server = undefined;
    }
    if (timeout.aborted) {
      await server?.stop();
      throw startError(
        dataDir,
        `No connection within ${START_TIMEOUT_MS / 1000} s: ${answer.ready ? 'a server without its owner does not stop' : answer.reason}`,
        server,
      );
    }
    await sleep(pauseMs);
  }
}

/** A name without a process id is that of a server that was started by an earlier version. */
function isOwnerAlive(clusterName: string): boolean {
  const [, pid] = /^embedded-(\d+)-/.exec(clusterName) ?? [];
  return pid === undefined || isAlive(Number(pid));
}

/** True when another process's server, or the last children of a killed one, still use the folder. */
function lostToAnother(output: string): boolean {
  return /lock file ".*" (already exists|is empty)|pre-existing shared memory block/.test(output);
}

function startError(dataDir: string, reason: string, server: GuardedProcess | undefined): Error {
  return new Error(`Postgres did not start in ${dataDir}. ${reason}\n${server?.recentOutput() ?? ''}`);
}
