import { existsSync } from 'node:fs';
import path from 'node:path';

/** The folder of package.json, both from the sources and from dist. */
export function projectRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(path.join(folder, 'package.json'))) {
    const parent = path.dirname(folder);
    if (parent === folder) throw new Error(`There is no package.json above ${import.meta.dirname}.`);
    folder = parent;
  }
  return folder;
}
