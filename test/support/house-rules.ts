import assert from 'node:assert/strict';
import { readSources, type Source } from './source-graph.js';

/** Every TypeScript file, tests included, and every file but the tests. */
export const everything = readSources();
export const sources = everything.filter(({ file }) => !file.startsWith('test/'));

export function below(folder: string): Source[] {
  return sources.filter(({ file }) => file.startsWith(folder));
}

export function assertNone(offenders: readonly (string | Source)[], rule: string): void {
  assert.deepEqual(
    offenders.map((one) => (typeof one === 'string' ? one : one.file)),
    [],
    rule,
  );
}

/** Files outside `allowed` that import something matching `pattern`. */
export function importersOf(pattern: RegExp, allowed: readonly string[]): Source[] {
  return sources.filter(
    ({ file, imports }) =>
      imports.some((name) => pattern.test(name)) && !allowed.some((start) => file.startsWith(start)),
  );
}
