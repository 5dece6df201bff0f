import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rename, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { startEmbeddedPostgres } from '../../../local/postgres/embedded-postgres.js';
import type { TestServer } from '../../world/processes/services.js';

const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: 100 };

/** A Postgres of which an operator keeps a base backup. Both take it down for a moment; its address stays. */
export interface RestorablePostgres extends TestServer {
  backUp(): Promise<void>;
  /** Whatever was committed since the backup is lost. */
  restore(): Promise<void>;
}

export async function startRestorablePostgres(): Promise<RestorablePostgres> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'stablecoin-checkout-rehearsal-'));
  await chmod(folder, 0o711); // Postgres refuses to run as root, and runs as another user.
  const start = () => startEmbeddedPostgres({ dir: path.join(folder, 'postgres'), settings: SETTINGS });
  let server = await start();
  const { url, dataDir } = server;
  const backup = `${dataDir}.backup`;
  return {
    url,
    async backUp() {
      await server.stop();
      await promisify(execFile)('cp', ['-a', dataDir, backup]);
      server = await start();
    },
    async restore() {
      await server.stop();
      await rm(dataDir, { recursive: true });
      await rename(backup, dataDir);
      server = await start();
    },
    async stop() {
      await server.stop();
      // The data directory is elsewhere when the database user cannot enter the temporary directory.
      for (const one of [path.dirname(dataDir), folder]) await rm(one, { recursive: true, force: true });
    },
  };
}
