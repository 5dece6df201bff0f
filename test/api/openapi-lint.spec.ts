import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { openApiDocument } from '../../api/openapi/document.js';

const REDOCLY = createRequire(import.meta.url).resolve('@redocly/cli/bin/cli.js');
/**
 * All recommended rules but two: no licence is granted, and the key set at /.well-known/jwks.json is there for every caller.
 */
const CONFIG = 'extends: [recommended]\nrules: { info-license: off, operation-4xx-response: off }\n';

interface Report {
  totals: { errors: number; warnings: number };
  problems: { ruleId: string; message: string; location: { pointer?: string }[] }[];
}

describe('the API description', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'stablecoin-checkout-openapi-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function lint(document: object): Promise<string[]> {
    await writeFile(path.join(folder, 'redocly.yaml'), CONFIG);
    await writeFile(path.join(folder, 'openapi.json'), JSON.stringify(document));
    const args = [REDOCLY, 'lint', 'openapi.json', '--config', 'redocly.yaml', '--format', 'json'];
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const text = await new Promise<string>((resolve) => {
      execFile(process.execPath, args, { cwd: folder, env, maxBuffer: 1 << 26 }, (_error, stdout) =>
        resolve(stdout),
      );
    });
    const { problems }: Report = JSON.parse(text);
    return problems.map(
      ({ ruleId, message, location: [place] }) => `${ruleId} ${place?.pointer}: ${message}`,
    );
  }

  it('has no fault that redocly finds', async () => {
    assert.deepEqual(await lint(openApiDocument('https://pay.example')), []);
  });

  it('would be found faulty with a name that no code can have', async () => {
    const document = JSON.stringify(openApiDocument('https://pay.example'));
    const faults = await lint(
      JSON.parse(document.replace('"receiveRefundCreated"', '"receive refund.created"')),
    );
    assert.match(faults.join('\n'), /^operation-operationId-url-safe /);
  });
});
