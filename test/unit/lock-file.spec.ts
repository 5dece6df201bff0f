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

  it('knows the bytes of every package, but of some tools for systems that the lock was not made on', () => {
    const unknown = Object.entries(packages).filter(
      ([place, { link, integrity = '' }]) =>
        place !== '' && link !== true && !/^sha512-[\w+/]{86}==$/.test(integrity),
    );
    // Their registry entry could not be read there. What a service is installed with is never among them.
    const ofTools = /^node_modules\/(@biomejs\/cli|@foundry-rs\/anvil|litesvm)-[\w-]+$/;
    const others = unknown.filter(([place, { dev, optional }]) => !(dev && optional && ofTools.test(place)));
    assert.deepEqual(
      others.map(([place]) => place),
      [],
    );
    assert.ok(unknown.length <= 17, 'it may only become less');
  });

  it('names no address that packages were taken from', () => {
    assert.doesNotMatch(readFileSync(url, 'utf8'), /"resolved":/);
  });
});
