import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from './error-code.js';

/**
 * Makes the folder and what is missing above it. Node's `recursive` says ENOENT of a read-only file system, and never ends in
 * `/proc`, where a folder that exists takes no other.
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  const above = path.dirname(folder);
  // The folder above is asked for first: another process may make it after `mkdir` has missed it.
  const isAboveThere = await isFolder(above);
  try {
    await mkdir(folder, mode);
  } catch (error) {
    if (await isFolder(folder)) return;
    if (!hasCode(error, 'ENOENT') || isAboveThere) throw error;
    await makeFolder(above, mode);
    await makeFolder(folder, mode);
  }
}

async function isFolder(folder: string): Promise<boolean> {
  return await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
