import path from 'node:path';

/** What the build has made, or the sources where they run as they are: one folder above this file, bundled or not. */
export const BUILD_FOLDER = path.join(import.meta.dirname, '..', '..');
