import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Who imports whom, types included: files as paths from the root, packages by name. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

const ROOT = path.join(import.meta.dirname, '..', '..');
const IMPORT = /(?:^|\s)(?:from|import)\s*\(?\s*'([^']+)'/g;

export function readImports(folder: string): ImportGraph {
  const names = readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.ts')).map((name) => path.join(folder, name));
  return new Map(files.map((file) => [file, importsOf(file, readFileSync(path.join(ROOT, file), 'utf8'))]));
}

function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(IMPORT)].map(([, name = '']) =>
    name.startsWith('.') ? path.join(path.dirname(file), name).replace(/\.js$/, '.ts') : name,
  );
}

/** The same arrows between whatever the files belong to; those within one are left out. */
export function arrowsBetween(graph: ImportGraph, placeOf: (file: string) => string): ImportGraph {
  const arrows = new Map<string, Set<string>>();
  for (const [file, imports] of graph) {
    const from = placeOf(file);
    const to = arrows.get(from) ?? new Set();
    for (const imported of imports.filter((name) => graph.has(name))) to.add(placeOf(imported));
    to.delete(from);
    arrows.set(from, to);
  }
  return new Map([...arrows].map(([from, to]) => [from, [...to]]));
}

/** One way round, `a → b → a`; undefined when there is none. */
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
