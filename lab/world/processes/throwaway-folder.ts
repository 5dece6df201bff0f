import { mkdtemp, readdir, readFile, rm, statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { isAlive } from '../../../local/toolchain/is-alive.js';

/** Linux keeps the files of this folder in memory. */
export const IN_MEMORY = '/dev/shm';
const GIB = 2 ** 30;
/** The databases of a whole run of the suite need half a gigabyte at once. */
const ROOM_BYTES = 4 * GIB;
/** The id of the process that makes the folder follows. */
const NAME = 'stablecoin-checkout-test-';

/**
 * Makes a folder for data that need not outlive this process. In memory where there is room: each new database is some
 * 550 files, which took a disk's file system two to ten times as long.
 */
export async function makeThrowawayFolder(): Promise<string> {
  const isRoomy = await hasRoom(IN_MEMORY).catch(() => false);
  if (isRoomy) await removeAbandoned(IN_MEMORY);
  return await mkdtemp(path.join(isRoomy ? IN_MEMORY : os.tmpdir(), `${NAME}${process.pid}-`));
}

async function hasRoom(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' '));
  const options = mounts.findLast(([, mountedOn]) => mountedOn === folder)?.[3]?.split(',') ?? [];
  // The programs of Postgres are copied beside the data where its user cannot run them in place.
  const takesPrograms = options.includes('rw') && !options.includes('noexec');
  return takesPrograms && bavail * bsize >= ROOM_BYTES && process.availableMemory() >= 2 * ROOM_BYTES;
}

/** A process that is killed leaves its folder, and with it the memory. */
export async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] = new RegExp(`^${NAME}(\\d+)-`).exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(path.join(folder, name), { recursive: true, force: true }).catch(() => {
      // The folder is another user's, or its server is still stopping: a later run removes it.
    });
  }
}
