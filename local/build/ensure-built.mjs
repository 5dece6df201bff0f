import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withLock } from '../toolchain/lock.mjs';
import { runToEnd } from '../toolchain/run-to-end.mjs';
import { buildVersion } from './build-version.mjs';
import { writePageAssets, writeReferenceAssets } from './bundle-page.mjs';
import { bundlePrograms } from './bundle-programs.mjs';

/** Builds when dist is out of date; exits when the build fails. */
export async function ensureBuilt(root) {
  if (isBuilt(root)) return;
  await locked(root, async () => {
    if (!isBuilt(root)) await compile(root);
  });
}

/** Builds when there is no dist; a dist that is out of date may be in use, and stays. */
export async function buildIfNone(root) {
  const isThere = () => existsSync(path.join(root, 'dist', '.build-hash'));
  if (isThere()) return;
  await locked(root, async () => {
    if (!isThere()) await compile(root);
  });
}

/** Builds unconditionally. */
export async function build(root) {
  await locked(root, () => compile(root));
}

function locked(root, task) {
  return withLock(path.join(root, '.data', 'build.lock'), task);
}

/** Whether dist is up to date. Compares contents: platforms and git change modification times. */
export function isBuilt(root) {
  const stamp = path.join(root, 'dist', '.build-hash');
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === sourceHash(root);
}

/**
 * Builds into a temporary folder and swaps it in, so that a failed build leaves the last good one, and no file outlives
 * its source.
 */
async function compile(root) {
  process.stderr.write('Building …\n');
  const [dist, fresh, old] = ['dist', 'dist.new', 'dist.old'].map((name) => path.join(root, name));
  for (const leftover of [fresh, old]) rmSync(leftover, { recursive: true, force: true });
  const hash = sourceHash(root);
  const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = ['-p', path.join(root, 'tsconfig.build.json'), '--outDir', fresh];
  const code = await runToEnd(process.execPath, [tsc, ...args], { cwd: root });
  const bundled = code === 0 && (await bundles(root, fresh));
  if (!bundled) {
    rmSync(fresh, { recursive: true, force: true });
    process.stderr.write('The build failed.\n');
    process.exit(1);
  }
  writeFileSync(path.join(fresh, 'build.json'), JSON.stringify({ version: buildVersion(root) }));
  writeFileSync(path.join(fresh, '.build-hash'), hash);
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(fresh, dist);
  rmSync(old, { recursive: true, force: true });
}

/** The bundler has printed its own errors. */
async function bundles(root, dist) {
  const bundling = [writePageAssets, writeReferenceAssets, bundlePrograms].map((bundle) =>
    bundle(root, dist),
  );
  return await Promise.all(bundling).then(
    () => true,
    () => false,
  );
}

/** Covers everything that the build reads: the compiler's settings and version, the folders that they include, and `more`. */
export function sourceHash(root, more = []) {
  const settings = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];
  const { include } = JSON.parse(readFileSync(path.join(root, 'tsconfig.build.json'), 'utf8'));
  const hash = createHash('sha256');
  for (const file of [...settings, ...[...include, ...more].flatMap((folder) => filesBelow(root, folder))]) {
    const content = readFileSync(path.join(root, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

function filesBelow(root, folder) {
  const absolute = path.join(root, folder);
  if (!existsSync(absolute)) return [];
  const entries = readdirSync(absolute, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const relative = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(root, relative);
    return entry.isFile() ? [relative] : [];
  });
}
