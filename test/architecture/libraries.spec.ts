import assert from 'node:assert/strict';
import { assertNone, below, importersOf, sources } from '../support/house-rules.js';
import { resolveImport } from '../support/source-graph.js';

/** A static import or export of values, with its name or path. */
const STATIC = /^(?:import|export)(?! type)(?: [^;']*?from)? '([^']+)'/gm;

/** The packages that a program loads before its first statement. */
function loadedAtStart(entry: string): Set<string> {
  const packages = new Set<string>();
  const files = new Set([entry]);
  for (const file of files) {
    const source = sources.find((one) => one.file === file);
    for (const [, name = ''] of source?.text.matchAll(STATIC) ?? []) {
      if (name.startsWith('.')) files.add(resolveImport(file, name));
      else packages.add(name);
    }
  }
  return packages;
}

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

  it('of chains and queues are not loaded before a process needs them', () => {
    const web = loadedAtStart('api/process/start-web.ts');
    const worker = loadedAtStart('workers/process/start-worker.ts');
    assert.ok(web.has('express') && worker.has('viem'));
    for (const name of ['viem', 'bullmq', '@solana/web3.js']) assert.ok(!web.has(name), `web: ${name}`);
    assert.ok(!worker.has('@solana/web3.js'));
    const commands = loadedAtStart('cli/merchants.ts');
    assert.ok(commands.has('objection'));
    for (const name of ['viem', 'undici', 'ioredis', '@solana/web3.js'])
      assert.ok(!commands.has(name), `commands: ${name}`);
  });

  it('are not loaded before a process can be told to stop', () => {
    for (const entry of ['api/server.ts', 'workers/main.ts']) {
      const first = loadedAtStart(entry);
      assert.ok(first.has('pino'));
      for (const name of ['express', 'objection', 'undici', 'viem'])
        assert.ok(!first.has(name), `${entry}: ${name}`);
    }
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
