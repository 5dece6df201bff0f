import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The house rules, kept by the suite instead of by good intentions. */
const ROOT = path.join(import.meta.dirname, '..');
const FOLDERS = ['api', 'workers', 'shared', 'migrations', 'cli', 'local', 'sandbox', 'chaos', 'explore'];

interface Source {
  file: string;
  text: string;
  /** Project files as paths from the root, packages by name. */
  imports: string[];
}

const sources: Source[] = FOLDERS.flatMap(readFolder);

function readFolder(folder: string): Source[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(path.join(folder, name)));
}

function read(file: string): Source {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  const specifiers = [...text.matchAll(/(?:^|\s)(?:from|import)\s*\(?\s*'([^']+)'/g)].map(
    ([, name = '']) => name,
  );
  const imports = specifiers.map((name) =>
    name.startsWith('.') ? path.join(path.dirname(file), name).replace(/\.js$/, '.ts') : name,
  );
  return { file, text, imports };
}

function below(folder: string): Source[] {
  return sources.filter(({ file }) => file.startsWith(folder));
}

function assertNone(offenders: string[], rule: string): void {
  assert.deepEqual(offenders, [], rule);
}

/** Files outside `allowed` that import something matching `pattern`. */
function importersOf(pattern: RegExp, allowed: readonly string[]): string[] {
  return sources
    .filter(
      ({ file, imports }) =>
        imports.some((name) => pattern.test(name)) && !allowed.some((a) => file.startsWith(a)),
    )
    .map(({ file }) => file);
}

describe('the architecture', () => {
  it('was read at all', () => {
    assert.ok(sources.length > 50);
    assert.ok(below('api/app.ts')[0]?.imports.includes('express'));
  });

  const forbidden: Record<string, RegExp> = {
    'api/': /^(workers|cli|local|sandbox|bench|chaos|explore|test)\//,
    'workers/': /^(api|cli|local|sandbox|bench|chaos|explore|test)\//,
    'shared/': /^(api|workers|cli|local|sandbox|bench|chaos|explore|test)\//,
    'cli/': /^(api|workers|sandbox|bench|chaos|explore|test)\//,
    // It is another process, of packages that no build needs.
    'local/': /^(sandbox|bench|chaos|explore|test)\//,
    // Of local/ it takes what lets no process outlive the one that started it.
    'sandbox/': /^(api|workers|cli|migrations|bench|chaos|explore|test)\/|^local\/(?!guarded-process)/,
    'migrations/': /^(api|workers|shared|cli|local|sandbox|bench|chaos|explore|test)\//,
    // What the service does is seen from outside: by its public API, and by what others wrote down.
    'chaos/': /^(api|workers|cli|sandbox|bench|explore|shared\/(?!clock|x402\/wire))/,
    'chaos/check/': /^(?!chaos\/|shared\/clock|test\/support\/seeded-random|node:)/,
    // It plays with the parts themselves, in one process.
    'explore/': /^(cli|local|sandbox|bench|chaos|migrations)\//,
    'shared/domain/': /^(?!shared\/domain\/)/,
    'shared/models/': /^shared\/(?!(models|domain)\/)/,
    'shared/presenters/': /^shared\/(?!(presenters|models|domain|chains\/networks|ids)(\/|\.))/,
    'shared/db/': /^shared\/(models|services|presenters|x402)\//,
    'shared/x402/': /^shared\/(models|services|presenters|db|queues)\//,
    'shared/chains/': /^shared\/(models|services|presenters|db|queues|x402)\//,
    'shared/services/': /^shared\/(x402|chains)\//,
    'shared/queues/': /^shared\/(models|services|presenters|x402|chains)\//,
  };

  for (const [folder, pattern] of Object.entries(forbidden)) {
    it(`${folder} imports only what stands below it`, () => {
      const offenders = below(folder).flatMap(({ file, imports }) =>
        imports.filter((name) => pattern.test(name)).map((name) => `${file} → ${name}`),
      );
      assertNone(offenders, `forbidden for ${folder}`);
    });
  }

  it('has no circle of files, types included, and none of folders in shared/', () => {
    const inCircle = (arrows: ReadonlyMap<string, ReadonlySet<string>>): string[] => {
      const reaches = (from: string, goal: string, seen: Set<string>): boolean =>
        [...(arrows.get(from) ?? [])].some((next) => {
          if (next === goal) return true;
          if (seen.has(next)) return false;
          seen.add(next);
          return reaches(next, goal, seen);
        });
      return [...arrows.keys()].filter((from) => reaches(from, from, new Set()));
    };
    const arrowsOf = (all: readonly Source[], nameOf: (file: string) => string): Map<string, Set<string>> => {
      const arrows = new Map<string, Set<string>>();
      for (const { file, imports } of all) {
        const from = arrows.get(nameOf(file)) ?? new Set();
        arrows.set(nameOf(file), from);
        for (const name of imports)
          if (name.includes('/') && nameOf(name) !== nameOf(file)) from.add(nameOf(name));
      }
      return arrows;
    };
    const everything = [...sources, ...readFolder('bench')];
    assertNone(inCircle(arrowsOf(everything, (file) => file)), 'circles of files');
    // A file that stands beside the rooms is a room of its own.
    const roomOf = (file: string): string => (path.dirname(file) === 'shared' ? file : path.dirname(file));
    assertNone(inCircle(arrowsOf(below('shared/'), roomOf)), 'circles of folders');
  });

  it('goes to Postgres in two ways: models, and statements by hand', () => {
    const offenders = sources.filter(
      ({ file, text }) =>
        /^(shared\/(?!db\/)|workers\/|api\/|cli\/)/.test(file) && /\b(db|trx)(\.raw)?(<[^(]*>)?\(/.test(text),
    );
    assertNone(
      offenders.map(({ file }) => file),
      'db(…) and db.raw(…)',
    );
  });

  it('keeps each library in its place', () => {
    assertNone(importersOf(/^express$/, ['api/']), 'express only in api');
    assertNone(
      importersOf(/^bullmq$/, [
        'shared/queues/',
        'workers/process/run-worker.ts',
        'workers/process/patient-worker.ts',
      ]),
      'bullmq behind its few files',
    );
    assertNone(
      importersOf(/^(objection|knex)$/, ['shared/db/', 'shared/models/', 'shared/services/', 'migrations/']),
      'objection and knex only where rows are read and written',
    );
    assertNone(importersOf(/^@modelcontextprotocol\//, ['api/mcp/']), 'the MCP SDK only in api/mcp');
    assertNone(
      importersOf(/^@opentelemetry\//, ['shared/tracing/open-telemetry.ts']),
      'OpenTelemetry behind one file',
    );
  });

  it('loads what few processes need when it is needed', () => {
    const lazy = 'api/mcp/answer-message.ts';
    const importers = sources.filter(({ imports }) => imports.includes(lazy));
    assert.deepEqual(
      importers.map(({ file }) => file),
      ['api/mcp/routes.ts'],
    );
    // Types leave nothing behind.
    const code = (importers[0]?.text ?? '').replaceAll(/^import type .*$/gm, '');
    assert.doesNotMatch(code, /from '\.\/answer-message/);
    assert.match(code, /await import\('\.\/answer-message\.js'\)/);
    const others = below('api/').filter(
      ({ file, text }) => file !== lazy && /^import (?!type).*'@modelcontextprotocol/m.test(text),
    );
    assertNone(
      others.map(({ file }) => file),
      'the MCP SDK',
    );
  });

  it('reads the environment only in the configuration', () => {
    const offenders = sources.filter(
      ({ file, text }) => text.includes('process.env') && file !== 'shared/config/config.ts',
    );
    assertNone(
      offenders.map(({ file }) => file),
      'process.env',
    );
  });

  it('takes the time only from the clock', () => {
    const offenders = sources.filter(
      ({ file, text }) =>
        /Date\.now\(\)|new Date\(\)/.test(text) &&
        file !== 'shared/process/clock.ts' &&
        !file.startsWith('local/'),
    );
    assertNone(
      offenders.map(({ file }) => file),
      'Date.now',
    );
  });

  it('keeps the packages of the sandbox out of everything else', () => {
    // The text for agents shows them a program that imports some.
    const allowed = ['sandbox/', 'api/docs/llms-text.ts'];
    assertNone(importersOf(/^(@x402|@solana\/kit$|litesvm|@foundry-rs)/, allowed), 'only in sandbox');
  });

  it('writes a status only in the rooms of services, statements by hand included', () => {
    const written = [
      /\b(patch|update|insert)\([^)]*\bstatus\b/,
      /\bSET\b[^;`]*?\bstatus = /,
      /\bINSERT INTO (payments|payables|checkout_sessions|webhook_deliveries)\b/,
    ];
    // The weighing copies a session, to have many of its weight.
    const mayWrite = /^(shared\/services\/[\w-]+|migrations|chaos\/weight)\//;
    const offenders = sources.filter(
      ({ file, text }) => !mayWrite.test(file) && written.some((pattern) => pattern.test(text)),
    );
    assertNone(
      offenders.map(({ file }) => file),
      'a status',
    );
  });

  it('has one writer of payments after their claim', () => {
    const writesPayments =
      /Payment\.query\([^)]*\)\s*\.(patch|insert|update)|UPDATE payments|INSERT INTO payments/;
    const inRoom = below('shared/services/').filter(({ text }) => writesPayments.test(text));
    assert.deepEqual(inRoom.map(({ file }) => path.basename(file)).sort(), [
      'carry-out.ts',
      'claim.sql.ts',
      'claim.ts',
      'reconcile-restore.sql.ts',
      'remember-told.ts',
      'resolve.ts',
      'succeed-together.sql.ts',
      'take-work.sql.ts',
      'write-verdict.ts',
    ]);
    const verdicts = /\/(write-verdict|succeed-together)\.ts$/;
    const callers = sources.filter(({ imports }) => imports.some((name) => verdicts.test(name)));
    const inCode = callers.filter(({ text }) =>
      /^import (?!type\b)[^;]*(write-verdict|succeed-together)\.js'/m.test(text),
    );
    assert.deepEqual(inCode.map(({ file }) => path.basename(file)).sort(), [
      'carry-out.ts',
      'succeed-together.ts',
    ]);
  });

  it('has no drawer for odds and ends, no default export and no file over 300 lines', () => {
    const drawers = sources.filter(({ file }) =>
      /(^|\/)(utils?|helpers?|common|misc|types)(\.ts|\/)/.test(file),
    );
    assertNone(
      drawers.map(({ file }) => file),
      'utils, helpers, common',
    );
    assertNone(
      sources.filter(({ text }) => /^export default/m.test(text)).map(({ file }) => file),
      'export default',
    );
    const long = sources.filter(({ text }) => text.split('\n').length > 301);
    assertNone(
      long.map(({ file }) => file),
      'split it',
    );
  });

  it('has no test file over 300 lines', () => {
    const long = readFolder('test').filter(({ text }) => text.split('\n').length > 301);
    assertNone(
      long.map(({ file }) => file),
      'split it by what it promises',
    );
  });

  it('gives every migration a way back', () => {
    const oneWay = below('migrations/').filter(
      ({ file, text }) => /\/\d/.test(file) && (!/function up\(/.test(text) || !/function down\(/.test(text)),
    );
    assertNone(
      oneWay.map(({ file }) => file),
      'up and down',
    );
  });
});
