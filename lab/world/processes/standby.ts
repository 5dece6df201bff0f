import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { startEmbeddedPostgres } from '../../../local/postgres/embedded-postgres.js';
import { loadConfig } from '../../../shared/config/config.js';
import { type Knex, openDatabase } from '../../../shared/db/knex.js';
import { createLogger } from '../../../shared/process/logger.js';
import { migrate } from '../../../shared/schema/migrate.js';
import { eventually } from './eventually.js';
import { catchUp, copyForStandby, stopFollowing } from './live-copy.js';
import { removePostgres } from './services.js';
import { makeThrowawayFolder } from './throwaway-folder.js';

/** A migrated Postgres, and a standby that streams from it. */
export interface Pair {
  primary: Server;
  standby: Server;
  /** The standby shows nothing newer until `resumeReplay`. */
  pauseReplay(): Promise<void>;
  resumeReplay(): Promise<void>;
  /** Resolves when the standby shows every earlier write of the primary. */
  caughtUp(): Promise<void>;
  /** The standby receives nothing more: a failover loses the primary's writes from now on. */
  cutStream(): Promise<void>;
  /** The standby takes writes from now on. The primary goes on, until it is stopped. */
  promote(): Promise<void>;
  stopPrimary(): Promise<void>;
  close(): Promise<void>;
}

interface Server {
  url: string;
  db: Knex;
}

/** True when the last query of another client of this database contains these words. */
export async function wasAsked(db: Knex, words: string): Promise<boolean> {
  const { rows } = await db.raw(
    'SELECT 1 FROM pg_stat_activity WHERE strpos(query, ?) > 0 AND pid <> pg_backend_pid()',
    [words],
  );
  return rows.length > 0;
}

const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: 100,
  // A checkpoint deletes no log that the standby lacks.
  wal_keep_size: '1GB',
  track_activity_query_size: 16_384,
};

/** A migrated cluster, of which each pair is a copy. */
interface Pairs {
  start(): Promise<Pair>;
  close(): Promise<void>;
}

export async function startPair(): Promise<Pair> {
  const pairs = await preparePairs();
  const pair = await pairs.start();
  return {
    ...pair,
    async close() {
      await pair.close();
      await pairs.close();
    },
  };
}

export async function preparePairs(): Promise<Pairs> {
  const folder = await makeThrowawayFolder();
  await chmod(folder, 0o711); // Postgres refuses to run as root, and runs as another user.
  const made = await startEmbeddedPostgres({ dir: path.join(folder, 'prepared'), settings: SETTINGS });
  await migrate(loadConfig({ DATABASE_URL: made.url }, 'migrate'), createLogger('silent', 'test'));
  await made.stop();
  let started = 0;
  return {
    async start() {
      started += 1;
      return await startCopies(made.dataDir, started);
    },
    async close() {
      await rm(path.dirname(made.dataDir), { recursive: true, force: true });
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startCopies(dataDir: string, number: number): Promise<Pair> {
  const original = await copyCluster(dataDir, `primary-${number}`);
  const first = await startEmbeddedPostgres({ dir: original, settings: SETTINGS });
  const copy = await copyForStandby(first, `standby-${number}`);
  const settings = { ...SETTINGS, hot_standby_feedback: 'on' };
  const second = await startEmbeddedPostgres({ dir: copy, settings });
  const [primary, standby] = [first, second].map(({ url }) => ({ url, db: open(url) })) as [Server, Server];
  const pair: Pair = {
    primary,
    standby,
    pauseReplay: async () => {
      await standby.db.raw('SELECT pg_wal_replay_pause()');
      // Replay pauses at the next record.
      await eventually(async () => {
        await primary.db.raw('SELECT pg_log_standby_snapshot()');
        const { rows } = await standby.db.raw('SELECT pg_get_wal_replay_pause_state() AS state');
        assert.equal(rows[0].state, 'paused');
      });
    },
    resumeReplay: async () => {
      await standby.db.raw('SELECT pg_wal_replay_resume()');
    },
    caughtUp: () => catchUp(queryOn(primary), queryOn(standby)),
    async cutStream() {
      await pair.caughtUp();
      await stopFollowing(queryOn(standby));
    },
    async promote() {
      await standby.db.raw('SELECT pg_promote()');
    },
    stopPrimary: () => first.stop(),
    async close() {
      await Promise.all([primary.db.destroy(), standby.db.destroy()]);
      await removePostgres(second);
      await removePostgres(first);
    },
  };
  return pair;
}

function queryOn({ db }: Server): (text: string) => Promise<object[]> {
  return async (text) => (await db.raw(text)).rows;
}

function open(url: string): Knex {
  return openDatabase(loadConfig({ DATABASE_URL: url }, 'migrate').database);
}

/** Copies the data directory of a stopped server, with its owner. Returns the folder in which the copy starts. */
async function copyCluster(dataDir: string, name: string): Promise<string> {
  const base = path.join(path.dirname(path.dirname(dataDir)), name);
  const run = promisify(execFile);
  const { uid, gid } = await stat(path.dirname(dataDir));
  await mkdir(base, { mode: 0o700 });
  await run('cp', ['-a', dataDir, base]);
  await chown(base, uid, gid);
  return base;
}
