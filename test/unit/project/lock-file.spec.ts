import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

interface LockedPackage {
  link?: boolean;
  dev?: boolean;
  optional?: boolean;
  integrity?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** `npm ci` refuses a lock file that lacks any platform's optional package; with some registries npm writes such files. */
describe('package-lock.json', () => {
  const url = new URL('../../../package-lock.json', import.meta.url);
  const { packages }: { packages: Record<string, LockedPackage> } = JSON.parse(readFileSync(url, 'utf8'));

  function isLocked(from: string, name: string): boolean {
    for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf('/node_modules/'))) {
      if (Object.hasOwn(packages, `${folder === '' ? '' : `${folder}/`}node_modules/${name}`)) return true;
      if (!folder.includes('/node_modules/')) return Object.hasOwn(packages, `node_modules/${name}`);
    }
  }

  it('locks every dependency, including those of other platforms', () => {
    const missing = Object.entries(packages).flatMap(([from, { dependencies, optionalDependencies }]) =>
      Object.entries({ ...dependencies, ...optionalDependencies })
        .filter(([name]) => !isLocked(from, name))
        .map(([name, version]) => `${name}@${version} of ${from}`),
    );
    assert.deepEqual(missing, []);
  });

  it('has the integrity of every package except development tools for other systems', () => {
    const unknown = Object.entries(packages).filter(
      ([name, { link, integrity = '' }]) =>
        name !== '' && link !== true && !/^sha512-[\w+/]{86}==$/.test(integrity),
    );
    // The registry entries of these packages could not be read. None of them is installed with the service.
    const ofTools = /^node_modules\/(@biomejs\/cli|@foundry-rs\/anvil|litesvm)-[\w-]+$/;
    const others = unknown.filter(([name, { dev, optional }]) => !(dev && optional && ofTools.test(name)));
    assert.deepEqual(
      others.map(([name]) => name),
      [],
    );
    assert.ok(unknown.length <= 17, 'the number may only fall');
  });

  it('names no registry address', () => {
    assert.doesNotMatch(readFileSync(url, 'utf8'), /"resolved":/);
  });
});
