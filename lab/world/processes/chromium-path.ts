import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/**
 * Debian package names; the test setup installs one of them. The headless shell takes half the CPU time, so it
 * comes first.
 */
const NAMES = ['chromium-headless-shell', 'chromium'];

export function chromiumPath(): string {
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  for (const candidate of NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)))) {
    try {
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      // The folder does not have it.
    }
  }
  throw new Error(`None of ${NAMES.join(', ')} is on PATH: npm test installs one or says what to install.`);
}
