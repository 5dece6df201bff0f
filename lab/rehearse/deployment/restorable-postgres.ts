import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rename, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { startEmbeddedPostgres } from '../../../local/postgres/embedded-postgres.js';
import { copyForStandby } from '../../world/processes/live-copy.js';
import type { TestServer } from '../../world/processes/services.js';

// A checkpoint deletes no log that a stopped standby lacks.
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: 100, wal_keep_size: '1GB' };
const STANDBY_SETTINGS = { ...SETTINGS, hot_standby_feedback: 'on' };

/** A Postgres with a standby, of which an operator keeps a base backup. Both addresses stay. */
export interface RestorablePostgres extends TestServer {
  standbyUrl: string;
  stopStandby(): Promise<void>;
  startStandby(): Promise<void>;
  /** Takes Postgres down for a moment. */
  backUp(): Promise<void>;
  /** Commits since the backup are lost. The standby, which has them, stays down. */
  restore(): Promise<void>;
}

export async function startRestorablePostgres(): Promise<RestorablePostgres> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'stablecoin-checkout-rehearsal-'));
  await chmod(folder, 0o711); // Postgres refuses to run as root, and runs as another user.
  const start = () => startEmbeddedPostgres({ dir: path.join(folder, 'postgres'), settings: SETTINGS });
  let server = await start();
  const { url, dataDir } = server;
  const copy = await copyForStandby(server, 'standby');
  const startStandby = () => startEmbeddedPostgres({ dir: copy, settings: STANDBY_SETTINGS });
  let standby = await startStandby();
  const backup = `${dataDir}.backup`;
  return {
    url,
    standbyUrl: standby.url,
    stopStandby: () => standby.stop(),
    async startStandby() {
      standby = await startStandby();
    },
    async backUp() {
      await server.stop();
      await promisify(execFile)('cp', ['-a', dataDir, backup]);
      server = await start();
    },
    async restore() {
      await standby.stop();
      await server.stop();
      await rm(dataDir, { recursive: true });
      await rename(backup, dataDir);
      server = await start();
    },
    async stop() {
      await standby.stop();
      await server.stop();
      // The data directory is elsewhere when the database user cannot enter the temporary directory.
      for (const one of [path.dirname(dataDir), copy, folder])
        await rm(one, { recursive: true, force: true });
    },
  };
}
