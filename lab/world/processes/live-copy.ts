import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { EmbeddedPostgres } from '../../../local/postgres/embedded-postgres.js';
import { eventually } from './eventually.js';

type Running = Pick<EmbeddedPostgres, 'url' | 'dataDir'>;

/** Runs a statement, and returns its rows. */
type Query = (text: string) => Promise<object[]>;

const run = promisify(execFile);

/**
 * Copies the data of a running Postgres for a standby that streams from it, as `pg_basebackup` does. Returns the folder with
 * which `startEmbeddedPostgres` starts the standby.
 */
export async function copyForStandby(primary: Running, name: string): Promise<string> {
  const folder = path.join(path.dirname(path.dirname(primary.dataDir)), name);
  const copy = path.join(folder, path.basename(primary.dataDir));
  const owner = await stat(path.dirname(primary.dataDir));
  await run('mkdir', ['-m', '700', folder]);
  const client = new pg.Client({ connectionString: primary.url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(`SELECT pg_backup_start('standby', true)`);
    // Files that Postgres deletes meanwhile are missing in the copy, and the log has their content.
    await run('cp', ['-a', primary.dataDir, copy]).catch(() => undefined);
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    await writeFile(path.join(copy, 'backup_label'), rows[0]?.labelfile ?? '');
  } finally {
    await client.end();
  }
  await rm(path.join(copy, 'postmaster.pid'), { force: true });
  const socket = new URL(primary.url).searchParams.get('host');
  const user = decodeURIComponent(new URL(primary.url).username);
  const settings = path.join(copy, 'postgresql.auto.conf');
  await appendFile(settings, `\nprimary_conninfo = 'host=${socket} port=5432 user=${user}'\n`);
  await writeFile(path.join(copy, 'standby.signal'), '');
  await run('chown', ['-R', `${owner.uid}:${owner.gid}`, folder]);
  return folder;
}

/** Resolves when the standby shows every earlier commit of its primary. */
export async function catchUp(primary: Query, standby: Query): Promise<void> {
  const [last] = (await primary('SELECT pg_current_wal_lsn()::text AS lsn')) as { lsn: string }[];
  const shows = `SELECT WHERE pg_last_wal_replay_lsn() >= '${last?.lsn}'::pg_lsn`;
  await eventually(async () => assert.equal((await standby(shows)).length, 1));
}

/** The standby receives nothing more: a failover loses the primary's commits from now on. */
export async function stopFollowing(standby: Query): Promise<void> {
  await standby('ALTER SYSTEM RESET primary_conninfo');
  await standby('SELECT pg_reload_conf()');
  await eventually(async () => assert.deepEqual(await standby('SELECT FROM pg_stat_wal_receiver'), []));
}

/** Kills all processes of the server at once. */
export async function crashPostgres({ dataDir }: Pick<Running, 'dataDir'>): Promise<void> {
  const [pid] = (await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8')).split('\n');
  process.kill(Number(pid), 'SIGQUIT');
}
