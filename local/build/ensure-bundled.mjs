import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundleEach } from './bundle-programs.mjs';
import { sourceHash } from './ensure-built.mjs';

/**
 * Bundles programs that no deployment needs, unless their sources are those of the last time: loading hundreds of modules one
 * by one would take most of their start. A program is one file, which it has read before a later start replaces it. Returns the
 * files, which lie in dist beside what the build makes.
 */
export async function ensureBundled(root, entries) {
  const stamp = `// ${sourceHash(root, ['lab'])}\n`;
  const fileOf = (entry) => path.join(root, 'dist', 'programs', entry.replace(/\.ts$/, '.js'));
  const stale = entries.filter((entry) => !readIfThere(fileOf(entry)).startsWith(stamp));
  const bundles = stale.length === 0 ? [] : await bundleEach(root, stale);
  for (const [index, entry] of stale.entries()) write(fileOf(entry), stamp + bundles[index]);
  return entries.map(fileOf);
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}

/** Two starts at once make the same file, each under a name of its own. */
function write(file, text) {
  mkdirSync(path.dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, text);
  renameSync(fresh, file);
}
