import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { assertNone, below, everything, sources } from '../support/house-rules.js';
import { arrowsBetween, findCircle, ROOT } from '../support/source-graph.js';

/**
 * The house rules. Every folder with TypeScript is found by looking for it, so a new folder is under these rules, the
 * type-check and the linter without being listed.
 */
/** The top folders, from those that know most to those that know least. Each imports only from those it names. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  api: ['shared'],
  workers: ['shared'],
  cli: ['shared', 'local'],
  local: ['shared', 'api', 'workers', 'cli'],
  lab: ['shared', 'api', 'workers', 'local'],
  shared: [],
  migrations: [],
  deploy: [],
};

/**
 * The rooms of shared/, from those that know most to those that know least. Each imports only from lines below its own,
 * types included.
 */
const SHARED_ROOMS = [
  ['migrate.ts', 'metrics', 'archive'],
  ['schema', 'startup', 'settlement'],
  ['refunds'],
  ['checkout-sessions'],
  ['webhooks', 'payables'],
  ['payments', 'upkeep'],
  ['accounts'],
  ['queues', 'x402'],
  ['chains', 'db'],
  ['tracing'],
  ['config', 'wire'],
  ['values'],
  ['limits', 'jobs', 'secrets', 'errors'],
  ['process'],
  ['session-fields'],
];

/** What single folders must not import, beyond the order of the rooms. */
const FORBIDDEN: Record<string, RegExp> = {
  // The policy is pure: it knows no clock, no database and no call, only the words of its neighbours.
  'shared/settlement/policy/':
    /^(?!shared\/(settlement\/policy|payments\/states|payables\/states|chains\/(finding|search-place)|x402\/settle-verdict)(\/|\.))/,
  'shared/jobs/': /./,
  // The sandbox is another process. It takes from local/ only what ends child processes with their parent.
  'lab/sandbox/': /^(api|workers|cli|test)\/|^lab\/(?!sandbox\/)|^local\/(?!toolchain\/guarded-process)/,
  // Chaos sees the service from outside: by its public API, and by what others wrote down.
  'lab/chaos/': /^(api|workers|cli|test)\/|^lab\/(?!(chaos|world)\/)|^shared\/(?!process\/clock|x402\/wire)/,
  'lab/chaos/check/': /^(?!lab\/chaos\/|shared\/process\/clock|lab\/world\/chance\/seeded-random|node:)/,
  // The explorer plays with the parts themselves, in one process.
  'lab/explore/': /^(cli|local|test)\/|^lab\/(?!(explore|world)\/)/,
  'lab/world/': /^(api|workers|cli|test)\/|^lab\/(?!world\/)/,
};

/** Folders whose files at the root are entries of a process. */
const ENTRY_FOLDERS = new Set(['api', 'workers', 'shared']);

const roomOf = (file: string): string => file.split('/')[1] ?? '';

describe('the folders', () => {
  it('are found', () => {
    const tops = new Set(everything.map(({ file }) => file.split('/')[0]));
    assert.deepEqual([...tops].sort(), [...Object.keys(MAY_IMPORT), 'test'].sort());
    assert.ok(sources.length > 500);
    assert.ok(below('api/app.ts')[0]?.imports.includes('express'));
  });

  it('are all type-checked', () => {
    const { include, exclude } = JSON.parse(readFileSync(path.join(ROOT, 'tsconfig.json'), 'utf8'));
    assert.deepEqual(include, ['**/*.ts', '**/*.mts']);
    assert.deepEqual(exclude, ['**/browser', 'node_modules', 'dist']);
    const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    const browser = everything.flatMap(({ file }) => /^(.*\/browser)\//.exec(file)?.[1] ?? []);
    for (const folder of new Set(browser))
      assert.ok(scripts.check.includes(`tsc --noEmit -p ${folder}`), `npm run check leaves out ${folder}`);
  });

  it('are all linted, by rules that are on for each of them', () => {
    const { files, overrides } = JSON.parse(readFileSync(path.join(ROOT, 'biome.json'), 'utf8'));
    assert.deepEqual(files.includes, ['**', '!**/*.md', '!package-lock.json']);
    const exempt = overrides.flatMap(({ includes }: { includes: string[] }) => includes);
    assert.deepEqual(exempt, ['test/**', 'examples/**', '**/*.css']);
  });

  for (const [folder, allowed] of Object.entries(MAY_IMPORT)) {
    it(`${folder}/ imports from ${['itself', ...allowed].join(', ')} and nowhere else`, () => {
      const offenders = below(`${folder}/`).flatMap(({ file, imports }) =>
        imports
          .filter((name) => Object.hasOwn(MAY_IMPORT, name.split('/')[0] ?? '') || name.startsWith('test/'))
          .filter((name) => ![folder, ...allowed].includes(name.split('/')[0] ?? ''))
          .map((name) => `${file} → ${name}`),
      );
      assertNone(offenders, `forbidden for ${folder}/`);
    });
  }

  for (const [folder, pattern] of Object.entries(FORBIDDEN)) {
    it(`${folder} leaves alone what is not for it`, () => {
      const offenders = below(folder).flatMap(({ file, imports }) =>
        imports.filter((name) => pattern.test(name)).map((name) => `${file} → ${name}`),
      );
      assert.ok(below(folder).length > 0, `${folder} has files`);
      assertNone(offenders, `forbidden for ${folder}`);
    });
  }

  it('have no circle of files, nor of folders, types and lab/ included', () => {
    const graph = new Map(sources.map(({ file, imports }) => [file, imports]));
    assert.equal(findCircle(graph), undefined, 'files');
    // An entry file at the root of a part is a room of its own.
    const folderOf = (file: string): string => {
      const folder = path.dirname(file);
      return ENTRY_FOLDERS.has(folder) ? file : folder;
    };
    assert.equal(findCircle(arrowsBetween(graph, folderOf)), undefined, 'folders');
  });

  it('of shared/ stand in one order, and each imports only from those below', () => {
    const level = new Map(
      SHARED_ROOMS.flatMap((rooms, index) => rooms.map((room) => [room, index] as const)),
    );
    const graph = new Map(below('shared/').map(({ file, imports }) => [file, imports]));
    const arrows = arrowsBetween(graph, roomOf);
    assert.deepEqual([...arrows.keys()].sort(), [...level.keys()].sort());
    const upwards = [...arrows].flatMap(([from, all]) =>
      all.filter((to) => Number(level.get(to)) <= Number(level.get(from))).map((to) => `${from} → ${to}`),
    );
    assertNone(upwards, 'from a room to one that is not below it');
  });

  it('have no loose file at their root but an entry', () => {
    const loose = sources.filter(({ file }) => /^(api|workers|shared|local|lab)\/[^/]+$/.test(file));
    assert.deepEqual(
      loose.map(({ file }) => file),
      ['api/app.ts', 'api/server.ts', 'shared/migrate.ts', 'workers/main.ts'],
    );
  });
});
