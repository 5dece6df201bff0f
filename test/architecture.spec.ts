import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { arrowsBetween, findCircle, ROOT, readSources, type Source } from './support/source-graph.js';

/**
 * The house rules. Every folder with TypeScript is found by looking for it, so a new folder is under these rules, the
 * type-check and the linter without being listed.
 */
const everything = readSources();
const sources = everything.filter(({ file }) => !file.startsWith('test/'));

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

function below(folder: string): Source[] {
  return sources.filter(({ file }) => file.startsWith(folder));
}

function assertNone(offenders: readonly (string | Source)[], rule: string): void {
  assert.deepEqual(
    offenders.map((one) => (typeof one === 'string' ? one : one.file)),
    [],
    rule,
  );
}

/** Files outside `allowed` that import something matching `pattern`. */
function importersOf(pattern: RegExp, allowed: readonly string[]): Source[] {
  return sources.filter(
    ({ file, imports }) =>
      imports.some((name) => pattern.test(name)) && !allowed.some((start) => file.startsWith(start)),
  );
}

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

/** Folders whose files at the root are entries of a process. */
const ENTRY_FOLDERS = new Set(['api', 'workers', 'shared']);

describe('the libraries', () => {
  it('stay each in its place', () => {
    assertNone(importersOf(/^express$/, ['api/']), 'express only in api');
    assertNone(
      importersOf(/^bullmq$/, [
        'shared/queues/',
        'workers/process/run-worker.ts',
        'workers/process/patient-worker.ts',
      ]),
      'bullmq behind its few files',
    );
    const resources =
      /^shared\/(accounts|archive|checkout-sessions|payables|payments|refunds|settlement|upkeep|webhooks|schema|db)\//;
    assertNone(
      importersOf(/^(objection|knex)$/, ['migrations/', 'lab/', 'shared/migrate.ts']).filter(
        ({ file }) => !resources.test(file),
      ),
      'objection and knex only where rows are read and written',
    );
    assertNone(importersOf(/^@modelcontextprotocol\//, ['api/mcp/']), 'the MCP SDK only in api/mcp');
    assertNone(
      importersOf(/^@opentelemetry\//, ['shared/tracing/open-telemetry.ts']),
      'OpenTelemetry behind one file',
    );
    // The text for agents shows them a program that imports some.
    const sandbox = ['lab/', 'api/docs/llms-text.ts'];
    assertNone(importersOf(/^(@x402|@solana\/kit$|litesvm|@foundry-rs)/, sandbox), 'only in lab');
  });

  it('that few processes need are loaded when they are needed', () => {
    const lazy = 'api/mcp/answer-message.ts';
    const importers = sources.filter(({ imports }) => imports.includes(lazy));
    assert.deepEqual(
      importers.map(({ file }) => file),
      ['api/mcp/routes.ts'],
    );
    // Type imports leave no code behind.
    const code = (importers[0]?.text ?? '').replaceAll(/^import type .*$/gm, '');
    assert.doesNotMatch(code, /from '\.\/answer-message/);
    assert.match(code, /await import\('\.\/answer-message\.js'\)/);
    const others = below('api/').filter(
      ({ file, text }) => file !== lazy && /^import (?!type).*'@modelcontextprotocol/m.test(text),
    );
    assertNone(others, 'the MCP SDK');
  });
});

describe('the code', () => {
  it('goes to Postgres in two ways: models, and statements by hand', () => {
    const offenders = sources.filter(
      ({ file, text }) =>
        /^(shared\/(?!db\/)|workers\/|api\/|cli\/)/.test(file) && /\b(db|trx)(\.raw)?(<[^(]*>)?\(/.test(text),
    );
    assertNone(offenders, 'db(…) and db.raw(…)');
  });

  it('reads the environment only in the configuration', () => {
    // A lab process passes its own environment on to the processes that it starts.
    const allowed = /^(shared\/config\/config|lab\/(bench\/stage|world\/processes)\/[\w-]+)\.ts$/;
    const offenders = sources.filter(({ file, text }) => text.includes('process.env') && !allowed.test(file));
    assertNone(offenders, 'process.env');
  });

  it('takes the time only from the clock', () => {
    // Benchmarks and factories seed rows, whose times no process compares with its clock.
    const allowed = /^(shared\/process\/clock\.ts|local\/|lab\/(bench|world\/shop)\/)/;
    const offenders = sources.filter(
      ({ file, text }) => /Date\.now\(\)|new Date\(\)/.test(text) && !allowed.test(file),
    );
    assertNone(offenders, 'Date.now');
  });

  it('writes a status only in the rooms of resources, statements by hand included', () => {
    const written = [
      /\b(patch|update|insert)\([^)]*\bstatus\b/,
      /\bSET\b[^;`]*?\bstatus = /,
      /\bINSERT INTO (payments|payables|checkout_sessions|webhook_deliveries)\b/,
    ];
    // Programs that weigh and measure copy rows, to have many of them.
    const mayWrite =
      /^(shared\/(checkout-sessions|refunds|settlement|webhooks|archive|schema)|migrations|lab\/(chaos\/weight|bench|world\/shop))\//;
    const offenders = sources.filter(
      ({ file, text }) => !mayWrite.test(file) && written.some((pattern) => pattern.test(text)),
    );
    assertNone(offenders, 'a status');
  });

  it('has one writer of payments after their claim', () => {
    const writesPayments =
      /Payment\.query\([^)]*\)\s*\.(patch|insert|update)|UPDATE payments|INSERT INTO payments/;
    const inRoom = below('shared/').filter(({ text }) => writesPayments.test(text));
    assert.deepEqual(inRoom.map(({ file }) => path.basename(file)).sort(), PAYMENT_WRITERS);
    const verdicts = /\/(write-verdict|succeed-together)\.ts$/;
    const callers = sources.filter(({ imports }) => imports.some((name) => verdicts.test(name)));
    const inCode = callers.filter(({ text }) =>
      /^import (?!type\b)[^;]*(write-verdict|succeed-together)\.js'/m.test(text),
    );
    assert.deepEqual(inCode.map(({ file }) => path.basename(file)).sort(), VERDICT_CALLERS);
  });

  it('has no drawer for odds and ends, no default export and no file over 300 lines', () => {
    const drawers = sources.filter(({ file }) =>
      /(^|\/)(utils?|helpers?|common|misc|types)(\.ts|\/)/.test(file),
    );
    assertNone(drawers, 'utils, helpers, common');
    assertNone(
      sources.filter(({ text }) => /^export default/m.test(text)),
      'export default',
    );
    assertNone(
      everything.filter(({ text }) => text.split('\n').length > 301),
      'split it; a spec by what it promises',
    );
  });

  it('gives every migration a way back', () => {
    const oneWay = below('migrations/').filter(
      ({ file, text }) => /\/\d/.test(file) && (!/function up\(/.test(text) || !/function down\(/.test(text)),
    );
    assertNone(oneWay, 'up and down');
  });
});

const PAYMENT_WRITERS = [
  'carry-out.ts',
  'claim.sql.ts',
  'claim.ts',
  'reconcile-restore.sql.ts',
  'remember-told.ts',
  'resolve.ts',
  'succeed-together.sql.ts',
  'take-work.sql.ts',
  'write-verdict.ts',
];
const VERDICT_CALLERS = ['carry-out.ts', 'succeed-together.ts'];
