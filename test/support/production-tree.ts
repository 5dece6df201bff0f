import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The paths below node_modules that `npm ci --omit=dev --omit=optional` installs, read from the lock file. */
export function productionPaths(root: string): string[] {
  const { packages }: { packages: Record<string, LockedPackage> } = JSON.parse(
    readFileSync(path.join(root, 'package-lock.json'), 'utf8'),
  );
  return Object.entries(packages)
    .filter(
      ([packagePath, { dev, optional, devOptional }]) =>
        packagePath !== '' && !dev && !optional && !devOptional,
    )
    .map(([packagePath]) => packagePath);
}

interface LockedPackage {
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
}

/** Copies a package to the same path in another tree, without its nested packages. */
export function copyInto(
  folder: string,
  root: string,
  packagePath: string,
  isLeftOut: (name: string) => boolean,
): void {
  const from = path.join(root, packagePath);
  const to = path.join(folder, packagePath);
  mkdirSync(path.dirname(to), { recursive: true });
  if (!existsSync(from)) throw new Error(`${packagePath} is missing`);
  copy(from, to, (name) => name === 'node_modules' || isLeftOut(name), isLeftOut);
}

function copy(
  from: string,
  to: string,
  isLeftOut: (name: string) => boolean,
  isLeftOutBelow: (name: string) => boolean,
): void {
  let entries: string[];
  try {
    entries = readdirSync(from);
  } catch {
    link(from, to);
    return;
  }
  mkdirSync(to, { recursive: true });
  for (const name of entries) {
    if (!isLeftOut(name)) copy(path.join(from, name), path.join(to, name), isLeftOutBelow, isLeftOutBelow);
  }
}

/** Links the file, or copies it when source and target are on different disks. */
function link(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}
