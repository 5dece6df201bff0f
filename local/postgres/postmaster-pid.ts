import { execFile } from 'node:child_process';
import { link, readFile, readlink, rename, rm } from 'node:fs/promises';
import path from 'node:path';

/**
 * postmaster.pid says which process serves a data folder, and where its socket is. It can lie: the process
 * was killed and its number belongs to another one now, or the folder is a copy of one in use.
 */
export interface RunningPostmaster {
  pid: number;
  /** Absent while it starts. */
  socketDir: string | undefined;
}

export async function findRunningPostmaster(dataDir: string): Promise<RunningPostmaster | undefined> {
  const text = await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const [pidText, , , , socketDir] = text.split('\n');
  const pid = Number(pidText);
  return (await serves(pid, dataDir)) ? { pid, socketDir: socketDir || undefined } : undefined;
}

/**
 * Removes what a killed postmaster left, unless one serves the folder: Postgres takes any living process with
 * the file's number for a postmaster, and refuses to start.
 */
export async function clearStaleLocks(dataDir: string, socketDir: string): Promise<void> {
  await clearStale(path.join(dataDir, 'postmaster.pid'), dataDir);
  await clearStale(path.join(socketDir, '.s.PGSQL.5432.lock'), dataDir);
}

async function clearStale(file: string, dataDir: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined || (await serves(Number(text.split('\n')[0]), dataDir))) return;
  const aside = `${file}.stale-${process.pid}`;
  try {
    await rename(file, aside);
    // Another start may have cleared the file and begun in between: then this one is its own, and goes back.
    if ((await readFile(aside, 'utf8')) !== text) await link(aside, file);
  } catch {
    // Another start was faster; Postgres decides between the two.
  }
  await rm(aside, { force: true });
}

async function serves(pid: number, dataDir: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  return process.platform === 'linux' ? servesByProc(pid, dataDir) : servesByPs(pid, dataDir);
}

async function servesByProc(pid: number, dataDir: string): Promise<boolean> {
  // Empty for a zombie, which answers to signal 0 until its parent collects it.
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
