import assert from 'node:assert/strict';
import { assertNone, below, importersOf, sources } from '../support/house-rules.js';

describe('the libraries', () => {
  it('are each imported only in their own folders', () => {
    assertNone(importersOf(/^express$/, ['api/']), 'express only in api');
    assertNone(
      importersOf(/^bullmq$/, [
        'shared/queues/',
        'workers/process/run-worker.ts',
        'workers/process/bullmq-worker.ts',
      ]),
      'bullmq only in its own files',
    );
    const resources =
      /^shared\/(accounts|archive|checkout-sessions|payables|payments|refunds|settlement|upkeep|webhooks|schema|db)\//;
    assertNone(
      importersOf(/^(objection|knex)$/, ['migrations/', 'lab/', 'shared/migrate.ts']).filter(
        ({ file }) => !resources.test(file),
      ),
      'objection and knex only in files that read and write rows',
    );
    assertNone(importersOf(/^@modelcontextprotocol\//, ['api/mcp/']), 'the MCP SDK only in api/mcp');
    assertNone(
      importersOf(/^@opentelemetry\//, ['shared/tracing/open-telemetry.ts']),
      'OpenTelemetry in one file only',
    );
    assertNone(
      importersOf(/^(preact|uplot)\b/, ['api/dashboard/browser/']),
      'Preact and uPlot only in the dashboard',
    );
    // The text for agents contains an example program with imports.
    const sandbox = ['lab/', 'api/docs/llms-text.ts'];
    assertNone(importersOf(/^(@x402|@solana\/kit$|litesvm|@foundry-rs)/, sandbox), 'only in lab');
  });

  it('that few processes need are loaded on first use', () => {
    const lazy = 'api/mcp/answer-message.ts';
    const importers = sources.filter(({ imports }) => imports.includes(lazy));
    assert.deepEqual(
      importers.map(({ file }) => file),
      ['api/mcp/routes.ts'],
    );
    // Type imports are erased by the compiler.
    const code = (importers[0]?.text ?? '').replaceAll(/^import type .*$/gm, '');
    assert.doesNotMatch(code, /from '\.\/answer-message/);
    assert.match(code, /await import\('\.\/answer-message\.js'\)/);
    const others = below('api/').filter(
      ({ file, text }) => file !== lazy && /^import (?!type).*'@modelcontextprotocol/m.test(text),
    );
    assertNone(others, 'the MCP SDK');
  });
});
