import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { ROOT, readSources, type Source } from './source-graph.js';

/**
 * The spec files that a change of these files can affect: specs that import one of the files, directly or through other
 * files, or that name one of them, or its folder, in a string, like code that starts a program or reads a page.
 */
export function affectedSpecs(sources: readonly Source[], changed: readonly string[]): string[] {
  const importers = new Map<string, Set<string>>();
  for (const source of sources)
    for (const used of [...source.imports, ...namedPaths(source)]) {
      const files = importers.get(used) ?? new Set();
      importers.set(used, files.add(source.file));
    }
  const affected = new Set<string>();
  const open = [...changed];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (affected.has(file)) continue;
    affected.add(file);
    for (const name of withFolders(file)) open.push(...(importers.get(name) ?? []));
  }
  const specs = sources.map(({ file }) => file).filter((file) => file.endsWith('.spec.ts'));
  return specs.filter((file) => affected.has(file) || (changed.length > 0 && READ_EVERYTHING.test(file)));
}

/** These specs read the whole repository, so every change can affect them. */
const READ_EVERYTHING = /^test\/(docs\.spec\.ts$|architecture\/)/;
const SOURCE = /\.(m?[jt]s|tsx|cjs)$/;
const READ_FOLDERS = new Set(['docs', 'examples', 'migrations', 'deploy']);
/** Strings side by side, as `'docs', 'page.md'` in a call of `path.join`, are one path. */
const STRINGS = /'[\w@./-]+'(?:, *'[\w@./-]+')*/g;

function namedPaths({ text }: Source): string[] {
  return [...text.matchAll(STRINGS)]
    .map(([strings]) => strings.replaceAll(/', *'/g, '/').slice(1, -1))
    .flatMap((name) => {
      const file = path.normalize(name.replace(/^(\.\.?\/)+/, '').replace(/^dist\//, ''));
      const candidates = [file, file.replace(/\.js$/, '.ts'), `${file}.ts`];
      return candidates.filter((candidate) => isPath(candidate) && isFileOrFolder(candidate));
    });
}

/** A single word is a path only when it is a folder that code reads and does not import. */
function isPath(name: string): boolean {
  return /[./]/.test(name) || READ_FOLDERS.has(name);
}

const known = new Map<string, boolean>();

function isFileOrFolder(name: string): boolean {
  const found = known.get(name) ?? existsSync(path.join(ROOT, name));
  known.set(name, found);
  return found;
}

/** The file, and each folder above it. */
function withFolders(file: string): string[] {
  const parts = file.split('/');
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('/'));
}

/** Files that differ from the commit, and files that are new to git. */
function changedSince(commit: string): string[] {
  const git = (...args: string[]): string[] =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean);
  return [...git('diff', '--name-only', commit), ...git('ls-files', '--others', '--exclude-standard')];
}

// `npm test -- --changed[=<commit>]` runs this file as a program.
if (process.argv[1] === import.meta.filename) {
  const [commit = 'HEAD'] = process.argv.slice(2);
  process.stdout.write(`${affectedSpecs(readSources(undefined, SOURCE), changedSince(commit)).join('\n')}\n`);
}
