import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.join(import.meta.dirname, '..', '..');

export interface Source {
  /** Path from the root. */
  file: string;
  text: string;
  /** Files as paths from the root, packages by name; types included. */
  imports: readonly string[];
}

/** The imports of each file: files as paths from the root, packages by name; types included. */
type ImportGraph = ReadonlyMap<string, readonly string[]>;

const IMPORT = /(?:^|\s)(?:from|import)\s*\(?\s*'([^']+)'/g;
/** Folders of builds, of installations and of running processes. */
const NOT_SOURCE = /^(node_modules|dist.*|\..*)$/;

const TYPESCRIPT = /\.(m?ts|tsx)$/;

/** Every TypeScript file of the repository, or of one top folder, or the files with such a name. */
export function readSources(folder?: string, names = TYPESCRIPT): Source[] {
  const tops = readdirSync(ROOT, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !NOT_SOURCE.test(entry.name),
  );
  return tops
    .filter(({ name }) => folder === undefined || name === folder)
    .flatMap(({ name }) =>
      readdirSync(path.join(ROOT, name), { recursive: true, encoding: 'utf8' })
        .filter((file) => names.test(file) && !file.includes('node_modules/'))
        .map((file) => readSource(path.join(name, file))),
    );
}

function readSource(file: string): Source {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  const imports = [...text.matchAll(IMPORT)].map(([, name = '']) =>
    name.startsWith('.') ? resolveImport(file, name) : name,
  );
  return { file, text, imports };
}

/** The source that the compiler finds under the name of its output. */
export function resolveImport(importer: string, relative: string): string {
  const name = path.join(path.dirname(importer), relative);
  const [source = name, withMarkup = name] = ['.ts', '.tsx'].map((ending) => name.replace(/\.js$/, ending));
  return existsSync(path.join(ROOT, withMarkup)) ? withMarkup : source;
}

export function readImports(folder: string): ImportGraph {
  return new Map(readSources(folder).map(({ file, imports }) => [file, imports]));
}

/** The imports between the groups that `groupOf` puts files into, without those inside a group. */
export function arrowsBetween(graph: ImportGraph, groupOf: (file: string) => string): ImportGraph {
  const arrows = new Map<string, Set<string>>();
  for (const [file, imports] of graph) {
    const from = groupOf(file);
    const to = arrows.get(from) ?? new Set();
    for (const imported of imports.filter((name) => graph.has(name))) to.add(groupOf(imported));
    to.delete(from);
    arrows.set(from, to);
  }
  return new Map([...arrows].map(([from, to]) => [from, [...to]]));
}
/** An import cycle as `a → b → a`; undefined when there is none. */
export function findCircle(graph: ImportGraph): string | undefined {
  const cleared = new Set<string>();

  function visit(name: string, way: readonly string[]): string | undefined {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name].join(' → ');
    if (cleared.has(name)) return undefined;
    for (const next of graph.get(name) ?? []) {
      const circle = visit(next, [...way, name]);
      if (circle !== undefined) return circle;
    }
    cleared.add(name);
    return undefined;
  }

  for (const name of graph.keys()) {
    const circle = visit(name, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}
