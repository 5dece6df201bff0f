import { readFile, statfs } from 'node:fs/promises';
import os from 'node:os';

/** Linux keeps the files of this folder in memory. */
export const IN_MEMORY = '/dev/shm';
const GIB = 2 ** 30;
/** The databases of a whole run of the suite need at most a gigabyte or two at once. */
const ROOM_BYTES = 4 * GIB;

/**
 * The folder for data that need not outlive its server. In memory where there is room: each new database is some 550
 * files, which took a disk's file system two to ten times as long.
 */
export async function throwawayFolder(): Promise<string> {
  const hasRoom = await holdsFiles(IN_MEMORY).catch(() => false);
  return hasRoom && process.availableMemory() >= 2 * ROOM_BYTES ? IN_MEMORY : os.tmpdir();
}

async function holdsFiles(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' '));
  const options = mounts.findLast(([, mountedOn]) => mountedOn === folder)?.[3]?.split(',') ?? [];
  // The programs of Postgres are copied beside the data where its user cannot run them in place.
  return bavail * bsize >= ROOM_BYTES && options.includes('rw') && !options.includes('noexec');
}
