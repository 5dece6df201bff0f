import { createHash } from 'node:crypto';
import { access, chmod, chown, constants, lstat, mkdir, readFile, realpath } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { makeFolder } from '../../shared/process/make-folder.js';
import { chooseServerUser, runAs, type SystemUser } from '../toolchain/system-user.js';

/** A folder that the database's user can write to, and that user; undefined is this process's user. */
interface DatabaseFolder {
  base: string;
  user: SystemUser | undefined;
}

/**
 * The longest folder for a socket: a socket's path has at most 104 bytes on macOS (108 on Linux), and its name takes 20
 * with a lock.
 */
const SOCKET_DIR_BYTES = 84;

/**
 * `dir` itself; or, where root's database user cannot enter it (a checkout in root's home), a folder below
 * `fallbackBase` whose name is derived from `dir`, so that several checkouts on one machine stay apart.
 */
export async function openDatabaseFolder(dir: string, fallbackBase: string): Promise<DatabaseFolder> {
  await makeFolder(dir).catch((error: unknown) => {
    throw new Error(`The database needs the folder ${dir}, which cannot be made: ${reason(error)}`);
  });
  const base = await realpath(dir);
  if (process.getuid?.() === 0) {
    const inPlace = await handOver(base);
    if (inPlace !== undefined) return inPlace;
    const fallback = fallbackFolder(base, fallbackBase);
    const created = await mkdir(fallback, { recursive: true });
    // Independent of the umask: the database's user must be able to enter.
    if (created !== undefined && created !== fallback) await chmod(fallbackBase, 0o755);
    const elsewhere = await handOver(await realpath(fallback));
    if (elsewhere !== undefined) return elsewhere;
    throw new Error(`The database's user can use neither ${base} nor ${fallback}: set DATABASE_URL.`);
  }
  await access(base, constants.R_OK | constants.W_OK | constants.X_OK).catch(() => {
    throw new Error(
      `${base} belongs to another user, who started the database here first: ` +
        'start as that user, remove the folder, or set DATABASE_URL.',
    );
  });
  return { base, user: undefined };
}

/** The folder for `base` that root's database user can enter wherever `base` is. */
export function fallbackFolder(base: string, fallbackBase: string): string {
  return path.join(fallbackBase, createHash('sha256').update(base).digest('hex').slice(0, 16));
}

/** Gives root's folder to the database's user; undefined when that user still cannot use it. */
async function handOver(base: string): Promise<DatabaseFolder | undefined> {
  const { uid: owner } = await lstat(base);
  const user = chooseServerUser(await readFile('/etc/passwd', 'utf8'), owner);
  // Recursive: a checkout that root copied contains a cluster that root owns.
  if (owner !== user.uid) await runAs(undefined, 'chown', ['-R', `${user.uid}:${user.gid}`, base]);
  const test = await runAs(user, '/bin/sh', ['-c', 'test -w "$0" && test -x "$0"', base]);
  return test.succeeded ? { base, user } : undefined;
}

/** Postgres listens only on a socket in this folder, which no other user may enter: no port, no password. */
export async function openSocketFolder(dataDir: string, user: SystemUser | undefined): Promise<string> {
  const beside = `${dataDir}.socket`;
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  const fitting = [beside, path.join(os.tmpdir(), `pg-${hash}`)].find(
    (candidate) => Buffer.byteLength(candidate) <= SOCKET_DIR_BYTES,
  );
  const folder = fitting ?? beside;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const uid = user?.uid ?? process.getuid?.();
  const found = await lstat(folder);
  // Below a world-writable folder, another user may have created it first.
  if (!found.isDirectory() || (found.uid !== uid && found.uid !== process.getuid?.())) {
    throw new Error(`${folder} belongs to another user: remove it, or set DATABASE_URL.`);
  }
  await chmod(folder, 0o700);
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  return folder;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
