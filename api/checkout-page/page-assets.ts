import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { BUILD_FOLDER } from '../../shared/process/build-folder.js';

/** URL paths; undefined when the page was not bundled. */
interface PageFiles {
  script: string | undefined;
  style: string | undefined;
}

/** Scripts and style sheets of the pages from the build, with content hashes in their names. */
export interface PageAssets extends PageFiles {
  dashboard: PageFiles;
  files: ReadonlyMap<string, Buffer>;
}

const BUILT = path.join(BUILD_FOLDER, 'assets');

export function loadPageAssets(folder: string = BUILT): PageAssets {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const files = new Map(names.map((name) => [name, readFileSync(path.join(folder, name))]));
  return pageAssets(files);
}

export function pageAssets(files: ReadonlyMap<string, Buffer>): PageAssets {
  const find = (entry: string, ending: string): string | undefined => {
    const name = [...files.keys()].find((one) => one.startsWith(`${entry}.`) && one.endsWith(ending));
    return name === undefined ? undefined : `/assets/${name}`;
  };
  return {
    script: find('checkout', '.js'),
    style: find('page', '.css'),
    dashboard: { script: find('dashboard', '.js'), style: find('dashboard-style', '.css') },
    files,
  };
}
