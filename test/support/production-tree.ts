import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What `npm ci --omit=dev --omit=optional` would install, by the lock file: each place below node_modules. */
export function productionPlaces(root: string): string[] {
  const { packages }: { packages: Record<string, LockedPackage> } = JSON.parse(
    readFileSync(path.join(root, 'package-lock.json'), 'utf8'),
  );
  return Object.entries(packages)
    .filter(([place, { dev, optional, devOptional }]) => place !== '' && !dev && !optional && !devOptional)
    .map(([place]) => place);
}

interface LockedPackage {
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
}

/** A file or a folder at the same place in another tree, without the packages that lie within a package. */
export function copyInto(
  folder: string,
  root: string,
  place: string,
  isLeftOut: (name: string) => boolean,
): void {
  const from = path.join(root, place);
  const to = path.join(folder, place);
  mkdirSync(path.dirname(to), { recursive: true });
  if (!existsSync(from)) throw new Error(`${place} is not there`);
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

/** The same bytes under another name, where both lie on one disk. */
function link(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}
