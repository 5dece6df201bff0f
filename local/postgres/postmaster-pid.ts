import { execFile } from 'node:child_process';
import { link, readFile, readlink, rename, rm } from 'node:fs/promises';
import path from 'node:path';

/**
 * postmaster.pid names the process that serves a data folder, and the folder of its socket. It can be wrong: the
 * process was killed and another process has its id now, or the folder is a copy of one in use.
 */
export interface RunningPostmaster {
  pid: number;
  /** Undefined while the server starts. */
  socketDir: string | undefined;
}

export async function findRunningPostmaster(dataDir: string): Promise<RunningPostmaster | undefined> {
  const text = await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const [pidText, , , , socketDir] = text.split('\n');
  const pid = Number(pidText);
  return (await serves(pid, dataDir)) ? { pid, socketDir: socketDir || undefined } : undefined;
}

/**
 * Removes the locks of a killed postmaster, unless a server runs on the folder: Postgres takes any process with the
 * recorded id for a postmaster, and refuses to start.
 */
export async function clearStaleLocks(dataDir: string, socketDir: string): Promise<void> {
  await clearStale(path.join(dataDir, 'postmaster.pid'), dataDir);
  await clearStale(path.join(socketDir, '.s.PGSQL.5432.lock'), dataDir);
}

async function clearStale(file: string, dataDir: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined || (await serves(Number(text.split('\n')[0]), dataDir))) return;
  const moved = `${file}.stale-${process.pid}`;
  try {
    await rename(file, moved);
    // Another start may have removed the file and written its own in between: that file is put back.
    if ((await readFile(moved, 'utf8')) !== text) await link(moved, file);
  } catch {
    // Another start was faster; Postgres' own lock decides between the two.
  }
  await rm(moved, { force: true });
}

async function serves(pid: number, dataDir: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  return process.platform === 'linux' ? servesByProc(pid, dataDir) : servesByPs(pid, dataDir);
}

async function servesByProc(pid: number, dataDir: string): Promise<boolean> {
  // Empty for a zombie, which answers signal 0 until its parent collects it.
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  if (!command.includes('postgres')) return false;
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  return folder === undefined ? command.includes(dataDir) : folder === dataDir;
}

function servesByPs(pid: number, dataDir: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('ps', ['-ww', '-p', String(pid), '-o', 'stat=,command='], (_error, stdout) => {
      resolve(!stdout.startsWith('Z') && stdout.includes('postgres') && stdout.includes(dataDir));
    });
  });
}
