import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Reads a file of lab/sandbox/, also from the bundle in dist. */
export function readSourceFile(name: string): Buffer {
  const at = (folder: string): string => path.join(folder, 'lab', 'sandbox', name);
  let folder = import.meta.dirname;
  while (!existsSync(at(folder))) {
    const parent = path.dirname(folder);
    if (parent === folder) throw new Error(`There is no lab/sandbox/${name} above ${import.meta.dirname}.`);
    folder = parent;
  }
  return readFileSync(at(folder));
}
