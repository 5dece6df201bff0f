import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** Debian's; the set-up of the tests installs one. Without windows to draw, the first takes half the processor time. */
const NAMES = ['chromium-headless-shell', 'chromium'];

export function chromiumPath(): string {
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  for (const candidate of NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)))) {
    try {
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      // In another folder, perhaps.
    }
  }
  throw new Error(`None of ${NAMES.join(', ')} is on PATH: npm test installs one or says what to install.`);
}
