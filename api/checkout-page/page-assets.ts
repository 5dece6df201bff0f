import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { BUILD_FOLDER } from '../../shared/process/build-folder.js';

/** The page's script and style sheet, as the build left them: their names hold their hashes. */
export interface PageAssets {
  /** Paths; undefined when the page was not bundled: then it is a document without them. */
  script: string | undefined;
  style: string | undefined;
  files: ReadonlyMap<string, Buffer>;
}

/** Beside the compiled sources. */
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
