import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { BUILD_FOLDER } from '../../shared/process/build-folder.js';
import { type Inlined, inline } from './inlined.js';

/** URL paths; undefined when the page was not bundled. */
interface PageFiles {
  script: string | undefined;
  style: string | undefined;
}

/** Scripts and style sheets of the pages from the build. */
export interface PageAssets {
  /** The payment page's script and style sheet, each undefined when the page was not bundled. */
  script: Inlined | undefined;
  style: Inlined | undefined;
  /** The URL path of `style`, for error pages. */
  styleUrl: string | undefined;
  dashboard: PageFiles;
  /** Served below /assets, with content hashes in their names. */
  files: ReadonlyMap<string, Buffer>;
}

const BUILT = path.join(BUILD_FOLDER, 'assets');

export function loadPageAssets(folder: string = BUILT): PageAssets {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const files = new Map(names.map((name) => [name, readFileSync(path.join(folder, name))]));
  return pageAssets(files);
}

export function pageAssets(files: ReadonlyMap<string, Buffer>): PageAssets {
  const find = (entry: string, ending: string): string | undefined =>
    [...files.keys()].find((one) => one.startsWith(`${entry}.`) && one.endsWith(ending));
  const url = (name: string | undefined) => (name === undefined ? undefined : `/assets/${name}`);
  const inlined = (tag: 'script' | 'style', name = '') => {
    const text = files.get(name)?.toString();
    return text === undefined ? undefined : inline(tag, text);
  };
  const [script, style] = [find('checkout', '.js'), find('page', '.css')];
  return {
    script: inlined('script', script),
    style: inlined('style', style),
    styleUrl: url(style),
    dashboard: { script: url(find('dashboard', '.js')), style: url(find('dashboard-style', '.css')) },
    files: new Map([...files].filter(([name]) => script === undefined || !name.startsWith(script))),
  };
}
