import { readFileSync } from 'node:fs';
import path from 'node:path';
import { BUILD_FOLDER } from './build-folder.js';

/**
 * The version: in a build the tag it was built from, or the latest tag and the commit; from sources the one in package.json.
 */
export const VERSION: string = readVersion('build.json') ?? readVersion('package.json') ?? 'unknown';

function readVersion(file: string): string | undefined {
  try {
    const { version } = JSON.parse(readFileSync(path.join(BUILD_FOLDER, file), 'utf8'));
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}
