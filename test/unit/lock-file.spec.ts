import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

interface LockedPackage {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** `npm ci` refuses a lock file that leaves out even one platform's optional package, as some registries make npm do. */
describe('package-lock.json', () => {
  const url = new URL('../../package-lock.json', import.meta.url);
  const { packages }: { packages: Record<string, LockedPackage> } = JSON.parse(readFileSync(url, 'utf8'));

  function isLocked(from: string, name: string): boolean {
    for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf('/node_modules/'))) {
      if (Object.hasOwn(packages, `${folder === '' ? '' : `${folder}/`}node_modules/${name}`)) return true;
      if (!folder.includes('/node_modules/')) return Object.hasOwn(packages, `node_modules/${name}`);
    }
  }

  it('locks every dependency, those of other platforms too', () => {
    const missing = Object.entries(packages).flatMap(([from, { dependencies, optionalDependencies }]) =>
      Object.entries({ ...dependencies, ...optionalDependencies })
        .filter(([name]) => !isLocked(from, name))
        .map(([name, version]) => `${name}@${version} of ${from}`),
    );
    assert.deepEqual(missing, []);
  });

  it('names no address that packages were taken from', () => {
    assert.doesNotMatch(readFileSync(url, 'utf8'), /"resolved":/);
  });
});
