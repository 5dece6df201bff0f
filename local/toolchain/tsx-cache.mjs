import { accessSync, constants } from 'node:fs';
import os from 'node:os';

/**
 * Call before tsx is loaded, in this process or a child. It ends at a folder for temporary files that takes no folder of its own,
 * as a TMPDIR that `su` and libpam-tmpdir leave of another user.
 */
export function cacheOnlyWherePossible() {
  try {
    accessSync(os.tmpdir(), constants.W_OK | constants.X_OK);
  } catch {
    process.env.TSX_DISABLE_CACHE = 'true';
  }
}
