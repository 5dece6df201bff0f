import { chmod, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { ensureBuilt } from '../../local/build/ensure-built.mjs';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../local/postgres/embedded-postgres.js';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { type Holder, type HolderOptions, startHolder } from './holder.js';
import { untilNoProcessMentions } from './processes.js';

/**
 * A temporary folder for the tests of one file. Servers share a cluster that the first one creates, unless a test names
 * a folder of its own below `root`.
 */
export interface Playground {
  root: string;
  start(options?: Partial<EmbeddedPostgresOptions>): Promise<EmbeddedPostgres>;
  hold(options?: Partial<HolderOptions>, variables?: Record<string, string>): Holder;
  /** Ends everything that a test started, and hangs if a process stays. */
  endAll(): Promise<void>;
  remove(): Promise<void>;
}

export const runsAsRoot = process.getuid?.() === 0;

export async function openPlayground(): Promise<Playground> {
  await ensureBuilt(projectRoot());
  const root = await temporaryFolder();
  const servers: EmbeddedPostgres[] = [];
  const holders: Holder[] = [];
  const common = {
    dir: path.join(root, 'project', 'postgres'),
    settings: { fsync: 'off' },
    fallbackBase: path.join(root, 'fallback'),
  };
  return {
    root,
    async start(options = {}) {
      const server = await startEmbeddedPostgres({ ...common, ...options });
      servers.push(server);
      return server;
    },
    hold(options = {}, variables = {}) {
      const holder = startHolder({ ...common, ...options }, variables);
      holders.push(holder);
      return holder;
    },
    async endAll() {
      for (const server of servers.splice(0)) await server.stop();
      for (const holder of holders.splice(0)) {
        await holder.process.kill();
      }
      await untilNoProcessMentions(root);
    },
    async remove() {
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function temporaryFolder(): Promise<string> {
  const dir = await realpath(await mkdtemp(path.join(os.tmpdir(), 'stablecoin-checkout-postgres-')));
  await chmod(dir, 0o711); // Postgres refuses to run as root, and runs as another user.
  return dir;
}

export async function query(server: { url: string }, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' });
    return rows.flat();
  } finally {
    await client.end();
  }
}

export async function postmasterPid(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8'), 10);
}

/** Signals the whole process group, as a terminal does on Ctrl-C. */
export function interruptGroup(holder: Holder): void {
  holder.process.signal('SIGINT');
}
