import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { runNode } from '../../../lab/world/processes/processes.js';
import { loadConfig } from '../../../shared/config/config.js';
import { unknown } from '../../support/deploy-files.js';

const ROOT = path.join(import.meta.dirname, '..', '..', '..');
const COMMANDS: Record<string, string> = {
  migrate: 'dist/shared/migrate.js',
  web: 'dist/api/server.js',
  worker: 'dist/workers/main.js',
  start: 'dist/local/service/run-service.js',
  merchants: 'local/commands/merchants.mjs',
};

describe('.env', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'stablecoin-checkout-env-'));
    writeFileSync(path.join(folder, '.env'), 'DATABASE_URL=mysql://nobody@nowhere\nLOG_LEVEL=loud\n');
  });
  after(() => rmSync(folder, { recursive: true }));

  async function run(file: string, environment: Record<string, string>): Promise<string> {
    const words = file.endsWith('merchants.mjs') ? ['list'] : [];
    const { code, stderr } = await runNode([path.join(ROOT, file), ...words], { cwd: folder, environment });
    assert.equal(code, 1, stderr);
    return stderr;
  }

  for (const [name, file] of Object.entries(COMMANDS)) {
    it(`is read by ${name}; variables set in the environment take precedence`, async () => {
      const errors = await run(file, { LOG_LEVEL: 'info', DATABASE_URL: '' });
      assert.match(errors, /DATABASE_URL must be a URL that starts with postgres:/);
      assert.doesNotMatch(errors, /LOG_LEVEL/);
    });
  }

  it('may be a copy of .env.example: the configuration reads each setting in it', () => {
    const text = readFileSync(path.join(ROOT, '.env.example'), 'utf8');
    const example = parseEnv(text);
    const config = loadConfig(example, 'web');
    assert.equal(config.baseUrl, 'https://pay.example.com');
    // Checks the settings that are commented out as well.
    const named = [...text.matchAll(/^#?([A-Z][A-Z\d_]+)=/gm)].map(([, name = '']) => name);
    assert.deepEqual(unknown(named), []);
  });
});
