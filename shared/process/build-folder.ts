import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * The folder that holds api/, shared/ and migrations/: dist/ in a build, else the root of the repository. Found by
 * searching upwards, since a bundle puts this module at another depth.
 */
export const BUILD_FOLDER = findUpwards(import.meta.dirname);

function findUpwards(folder: string): string {
  if (existsSync(path.join(folder, 'migrations'))) return folder;
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error(`No folder above ${import.meta.dirname} holds migrations/.`);
  return findUpwards(parent);
}
