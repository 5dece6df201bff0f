import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { assertNone, below, everything, sources } from '../support/house-rules.js';
import { ROOT } from '../support/source-graph.js';

describe('the code', () => {
  it('goes to Postgres in two ways: models and hand-written statements', () => {
    const offenders = sources.filter(
      ({ file, text }) =>
        /^(shared\/(?!db\/)|workers\/|api\/|cli\/)/.test(file) && /\b(db|trx)(\.raw)?(<[^(]*>)?\(/.test(text),
    );
    assertNone(offenders, 'db(…) and db.raw(…)');
  });

  it('reads the environment only in the configuration', () => {
    // A lab process passes its environment on to the processes that it starts.
    const allowed = /^(shared\/config\/config|lab\/(bench\/system|world\/processes)\/[\w-]+)\.ts$/;
    const offenders = sources.filter(({ file, text }) => text.includes('process.env') && !allowed.test(file));
    assertNone(offenders, 'process.env');
  });

  it('reads the time only from the clock module', () => {
    // Benchmarks and factories seed rows whose times are compared with no clock.
    const allowed = /^(shared\/process\/clock\.ts|local\/|lab\/(bench|world\/shop)\/)/;
    const offenders = sources.filter(
      ({ file, text }) => /Date\.now\(\)|new Date\(\)/.test(text) && !allowed.test(file),
    );
    assertNone(offenders, 'Date.now');
  });

  it("writes a status only in its resource's room, hand-written statements included", () => {
    const written = [
      /\b(patch|update|insert)\([^)]*\bstatus\b/,
      /\bSET\b[^;`]*?\bstatus = /,
      /\bINSERT INTO (payments|payables|checkout_sessions|webhook_deliveries)\b/,
    ];
    // Benchmarks and weight probes copy rows to have many of them.
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
    const outcomes = /\/(succeed|fail)\.ts$/;
    const callers = sources.filter(({ imports }) => imports.some((name) => outcomes.test(name)));
    const inCode = callers.filter(({ text }) => /^import (?!type\b)[^;]*\/(succeed|fail)\.js'/m.test(text));
    assert.deepEqual(inCode.map(({ file }) => path.basename(file)).sort(), OUTCOME_CALLERS);
  });

  it('has no utils, no default export and no file over 300 lines', () => {
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
      'split the file; a spec by its promises',
    );
  });

  it('has no function over 70 lines outside tests', () => {
    const biome = path.join(ROOT, 'node_modules', '.bin', 'biome');
    const rule = '--only=complexity/noExcessiveLinesPerFunction';
    const { status, stdout, stderr } = spawnSync(
      biome,
      ['lint', '--colors=off', '--diagnostic-level=error', rule, '.'],
      {
        cwd: ROOT,
        encoding: 'utf8',
      },
    );
    assert.equal(status, 0, stdout + stderr);
    // Biome prints its summary on standard error when it has found nothing.
    assert.match(stdout + stderr, /^Checked \d{3,} files/m);
  });

  it('gives every migration an up and a down', () => {
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
  'fail.ts',
  'reconcile-restore.sql.ts',
  'record-answers.ts',
  'record-found.ts',
  'resolve.ts',
  'succeed.sql.ts',
  'succeed.ts',
  'take-work.sql.ts',
];
const OUTCOME_CALLERS = ['carry-out.ts', 'succeed.ts'];
