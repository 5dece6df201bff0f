import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { assertNone, below, everything, sources } from '../support/house-rules.js';
import { arrowsBetween, findCircle, ROOT } from '../support/source-graph.js';

/**
 * The house rules. Folders with TypeScript are discovered, so these rules, the type-check and the linter apply to a new
 * folder without listing it.
 */
/** The top folders and the folders that each may import from. */
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
 * The rooms of shared/ in the order of their imports: a room imports only from lines below its own, types included.
 */
const SHARED_ROOMS = [
  ['migrate.ts', 'metrics', 'archive', 'reconcile', 'operator-reads'],
  ['schema', 'startup', 'settlement'],
  ['refunds'],
  ['checkout-sessions'],
  ['webhooks', 'payables'],
  ['payments', 'upkeep', 'reports'],
  ['accounts'],
  ['queues', 'x402'],
  ['chains', 'db'],
  ['tracing'],
  ['config', 'wire'],
  ['values', 'outgoing'],
  ['limits', 'jobs', 'secrets', 'errors'],
  ['process'],
  ['session-fields'],
];

/** Imports that are forbidden to single folders, in addition to the order of the rooms. */
const FORBIDDEN: Record<string, RegExp> = {
  // The policy is pure: no clock, no database and no call, only its neighbours' types.
  'shared/settlement/policy/':
    /^(?!shared\/(settlement\/policy|payments\/states|payables\/states|chains\/check\/(finding|search-position)|x402\/facilitator\/settle-verdict)(\/|\.))/,
  'shared/jobs/': /./,
  // The sandbox is a separate process. From local/ it may import only the code that ends child processes with their parent.
  'lab/sandbox/':
    /^(api|workers|cli|test)\/|^lab\/(?!(sandbox|world)\/)|^local\/(?!toolchain\/guarded-process)/,
  // Chaos sees the service from outside: by its public API and by the journals of the simulated world.
  'lab/chaos/': /^(api|workers|cli|test)\/|^lab\/(?!(chaos|world)\/)|^shared\/(?!process\/clock|x402\/wire)/,
  'lab/chaos/check/':
    /^(?!lab\/chaos\/|shared\/process\/clock|lab\/world\/(chance\/seeded-random|history\/)|node:)/,
  // The explorer runs the service's modules in one process.
  'lab/explore/': /^(cli|local|test)\/|^lab\/(?!(explore|world)\/)/,
  'lab/world/': /^(api|workers|cli|test)\/|^lab\/(?!world\/)/,
};

/** Folders whose root may hold entry files of processes only. */
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
    const check = readFileSync(path.join(ROOT, 'local', 'commands', 'check.mjs'), 'utf8');
    const browser = everything.flatMap(({ file }) => /^(.*\/browser)\//.exec(file)?.[1] ?? []);
    for (const folder of new Set(browser))
      assert.ok(check.includes(`'--noEmit', '-p', '${folder}'`), `npm run check leaves out ${folder}`);
  });

  it('are all linted, without exemptions from the rules', () => {
    const { files, overrides } = JSON.parse(readFileSync(path.join(ROOT, 'biome.json'), 'utf8'));
    assert.deepEqual(files.includes, ['**', '!**/*.md', '!package-lock.json']);
    const exempt = overrides.flatMap(({ includes }: { includes: string[] }) => includes);
    assert.deepEqual(exempt, ['test/**', 'examples/**', '**/*.css']);
  });

  for (const [folder, allowed] of Object.entries(MAY_IMPORT)) {
    it(`${folder}/ imports from ${['itself', ...allowed].join(', ')} only`, () => {
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
    it(`${folder} imports nothing that is forbidden to it`, () => {
      const offenders = below(folder).flatMap(({ file, imports }) =>
        imports.filter((name) => pattern.test(name)).map((name) => `${file} → ${name}`),
      );
      assert.ok(below(folder).length > 0, `${folder} has files`);
      assertNone(offenders, `forbidden for ${folder}`);
    });
  }

  it('have no import circle of files or folders, types and lab/ included', () => {
    const graph = new Map(sources.map(({ file, imports }) => [file, imports]));
    assert.equal(findCircle(graph), undefined, 'files');
    // An entry file at the root of a top folder counts as a room.
    const folderOf = (file: string): string => {
      const folder = path.dirname(file);
      return ENTRY_FOLDERS.has(folder) ? file : folder;
    };
    assert.equal(findCircle(arrowsBetween(graph, folderOf)), undefined, 'folders');
  });

  it('of shared/ are in one order, and each imports only from folders below', () => {
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

  it('have no file at their root except entries', () => {
    const loose = sources.filter(({ file }) => /^(api|workers|shared|local|lab)\/[^/]+$/.test(file));
    assert.deepEqual(
      loose.map(({ file }) => file),
      ['api/app.ts', 'api/server.ts', 'shared/migrate.ts', 'workers/main.ts'],
    );
  });

  it('have each spec that npm test starts first', () => {
    const list = readFileSync(path.join(ROOT, 'local/suite/spec-files.mjs'), 'utf8');
    const specs = [...list.matchAll(/'(test\/.*\.spec\.ts)'/g)].map(([, file = '']) => file);
    assert.ok(specs.length > 0);
    const missing = specs.filter((file) => !existsSync(path.join(ROOT, file)));
    assertNone(missing, 'moved or removed');
  });
});
