import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { BUILD_FOLDER } from '../../shared/process/build-folder.js';

/** Script and style sheet of the page from the build, with content hashes in their names. */
export interface PageAssets {
  /** URL paths; undefined when the page was not bundled. */
  script: string | undefined;
  style: string | undefined;
  files: ReadonlyMap<string, Buffer>;
}

const BUILT = path.join(BUILD_FOLDER, 'assets');

export function loadPageAssets(folder: string = BUILT): PageAssets {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const files = new Map(names.map((name) => [name, readFileSync(path.join(folder, name))]));
  return pageAssets(files);
}

export function pageAssets(files: ReadonlyMap<string, Buffer>): PageAssets {
  const find = (ending: string): string | undefined => {
    const name = [...files.keys()].find((candidate) => candidate.endsWith(ending));
    return name === undefined ? undefined : `/assets/${name}`;
  };
  return { script: find('.js'), style: find('.css'), files };
}
