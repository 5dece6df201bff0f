import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** Debian's; the set-up of the tests installs it. */
export function chromiumPath(): string {
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    const candidate = path.join(folder, 'chromium');
    try {
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      // In another folder, perhaps.
    }
  }
  throw new Error('chromium is not on PATH: npm test installs it or says what to install.');
}
